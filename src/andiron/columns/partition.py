"""Which partition each key of a column belongs to: records/murmur2.py for all of them at once.

Word by word: the first four bytes of all keys that have so many, then the next. Keys that are far longer than
most would make rounds of their own, so they are hashed one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from andiron.columns.native import partitions as native_partitions
from andiron.columns.rows import Longs, blobs, bounds_of
from andiron.records.murmur2 import SEED, M, murmur2

Words = npt.NDArray[np.uint32]

_LONG = 256  # bytes
_M = np.uint32(M)


def partitions_of(keys: pa.Array, count: int) -> npt.NDArray[np.int32]:
    """The partition of each key among `count`, and -1 for a null, which belongs nowhere."""
    return _partitions(blobs("key", keys), count)


def numpy_partitions(keys: pa.Array, count: int) -> npt.NDArray[np.int32]:
    """The same of a column of binary or large_binary, by numpy."""
    bounds, data = bounds_of(keys), keys.buffers()[2]
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    begin, length = bounds[:-1], np.diff(bounds)
    hashes = _hashes(raw, begin, np.where(length > _LONG, 0, length))
    for row in np.flatnonzero(length > _LONG).tolist():
        hashes[row] = murmur2(raw[bounds[row] : bounds[row + 1]].tobytes()) & 0xFFFFFFFF
    found = ((hashes & np.uint32(0x7FFFFFFF)) % np.uint32(count)).astype(np.int32)
    if keys.null_count:
        found[keys.is_null().to_numpy(zero_copy_only=False)] = -1
    return found


def _hashes(raw: npt.NDArray[np.uint8], begin: Longs, length: Longs) -> Words:
    h = np.uint32(SEED) ^ length.astype(np.uint32)
    rows, at = np.flatnonzero(length >= 4), 0
    while rows.size:
        k = _words(raw, begin[rows] + at, 4) * _M
        h[rows] = (h[rows] * _M) ^ ((k ^ (k >> np.uint32(24))) * _M)
        at += 4
        rows = rows[length[rows] >= at + 4]
    for left in (1, 2, 3):
        rows = np.flatnonzero(length & 3 == left)
        h[rows] = (h[rows] ^ _words(raw, begin[rows] + (length[rows] & ~3), left)) * _M
    h = (h ^ (h >> np.uint32(13))) * _M
    return h ^ (h >> np.uint32(15))


def _words(raw: npt.NDArray[np.uint8], at: Longs, size: int) -> Words:
    """The little-endian number in `size` bytes at each place."""
    word = raw[at].astype(np.uint32)
    for n in range(1, size):
        word |= raw[at + n].astype(np.uint32) << np.uint32(8 * n)
    return word


_partitions = native_partitions or numpy_partitions
