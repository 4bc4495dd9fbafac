"""A place in each of many records, moved on in all of them at once.

What reads one varint here reads one in every record: numpy's price is paid a column, not a record. Most
varints are a byte long, so the first byte of all is taken in one go and further ones only where there are.

The law: nothing is read at a place that is not before its record's end. Places only grow, so a record that
was found too short once is never read again: it is refused as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from andiron.model.errors import ErrorCode, ProtocolError

Longs = npt.NDArray[np.int64]

_LAST_SHIFT = 63  # of a varint's tenth byte, which has room for a single bit


class Blobs(NamedTuple):
    """A stretch of bytes in each record; a length below 0 is a null."""

    begin: Longs
    length: Longs


class FoundHeaders(NamedTuple):
    """How many headers each record has, and the keys and values of all, record by record."""

    counts: Longs
    keys: Blobs
    values: Blobs


def malformed(what: str) -> ProtocolError:
    """What bytes that make no sense are answered with."""
    return ErrorCode.CORRUPT_MESSAGE.error(f"malformed records: {what}")


class Cursor:
    """Reads on in every record from `pos` up to `stop`."""

    def __init__(self, data: npt.NDArray[np.uint8], pos: Longs, stop: Longs) -> None:
        self.data, self.pos, self.stop = data, pos, stop

    def varints(self) -> Longs:
        """The next number of every record."""
        byte = self._bytes(slice(None))
        z = (byte & 0x7F).astype(np.uint64)
        more = np.flatnonzero(byte >= 0x80)
        shift = 7
        while more.size:
            byte = self._bytes(more)
            if shift == _LAST_SHIFT and (byte > 1).any():
                raise malformed("a number of more than 64 bits")
            z[more] |= (byte & 0x7F).astype(np.uint64) << np.uint64(shift)
            more = more[byte >= 0x80]
            shift += 7
        return (z >> np.uint64(1)).view(np.int64) ^ -(z & np.uint64(1)).view(np.int64)

    def blobs(self) -> Blobs:
        """The next key or value of every record, left where it is."""
        length = self.varints()
        begin = self.pos
        self.pos = begin + np.clip(length, 0, None)
        # A length so large that the sum wraps is below its begin again.
        if ((self.pos > self.stop) | (self.pos < begin)).any():
            raise malformed("a key or value beyond its record")
        return Blobs(begin, length)

    def headers(self) -> FoundHeaders:
        """The headers, round by round: the first of all that have one, the second of all that have two …"""
        counts = self.varints()
        if ((counts < 0) | (counts > (self.stop - self.pos) // 2)).any():
            raise malformed("a number of headers that does not fit")
        first = np.cumsum(counts) - counts
        keys, values = (_room(int(counts.sum())) for _ in range(2))
        rows, turn = np.flatnonzero(counts), 0
        while rows.size:
            inner = Cursor(self.data, self.pos[rows], self.stop[rows])
            key, value = inner.blobs(), inner.blobs()
            if (key.length < 0).any():
                raise malformed("a header without a key")
            for room, blobs in ((keys, key), (values, value)):
                room.begin[first[rows] + turn], room.length[first[rows] + turn] = blobs
            self.pos[rows] = inner.pos
            turn += 1
            rows = rows[counts[rows] > turn]
        self._check_end()
        return FoundHeaders(counts, keys, values)

    def skip_headers(self) -> None:
        """Leave the headers unread; a record that has none must end here."""
        counts = self.varints()
        if (counts < 0).any():
            raise malformed("a number of headers below 0")
        self.pos = np.where(counts > 0, self.stop, self.pos)
        self._check_end()

    def _bytes(self, which: Longs | slice) -> npt.NDArray[np.uint8]:
        """The next byte of the records asked for."""
        pos = self.pos[which]
        if (pos >= self.stop[which]).any():
            raise malformed("a record ends too soon")
        found: npt.NDArray[np.uint8] = self.data[pos]
        self.pos[which] += 1
        return found

    def _check_end(self) -> None:
        if (self.pos != self.stop).any():
            raise malformed("a record is longer than what it holds")


def _room(size: int) -> Blobs:
    return Blobs(np.empty(size, np.int64), np.empty(size, np.int64))
