"""Going through the batches of a .log file: by headers, or whole.

    headers     many headers, payloads skipped: building indexes, replaying producers
    tail        the few headers between the last index entry and the end
    batches     whole batches: recovery, compaction, lookup by time
    place_at    the offsets and size of one batch
    walk_to     the few headers between an index entry and an offset
    last_end    the few headers between an index entry and a byte limit

The first three give Batches; the others are on the way of reads and look at 27 bytes a batch.

The law: a file is only trusted as far as its batches are whole. Whatever else is found where a
batch should begin is CORRUPT_MESSAGE, and message sets of the formats before Kafka 0.11 are
UNSUPPORTED_FOR_MESSAGE_FORMAT.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from andiron.log.disk import File
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC, Batch, check_magic

_WALK_BYTES = 8192  # an index interval and some
_HEADERS_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 20

_PLACE = Struct(">qi4xb6xi")  # base offset, length, magic, last offset delta


def headers(file: File, position: int, end: int) -> Iterator[tuple[int, Batch]]:
    """Each batch from `position` up to `end` with its position; its payload may not be in the buffer."""
    while position < end:
        data = file.read(position, min(_HEADERS_BYTES, end - position))
        at = 0
        while not at or at + HEADER_SIZE <= len(data):
            batch = _batch(file, data, at, position)
            if position + at + batch.size > end:
                raise _torn(file, position + at, end)
            yield position + at, batch
            at += batch.size
        position += at


def tail(file: File, position: int, end: int, *, after: int, upto: int) -> Iterator[Batch]:
    """The headers of the last batches: their offsets rise, from beyond `after` to `upto` at least."""
    for at, batch in headers(file, position, end):
        if not after < batch.base_offset <= batch.last_offset:
            raise ErrorCode.CORRUPT_MESSAGE.error(
                f"{batch} at byte {at} of {file.path} does not follow {after}"
            )
        after = batch.last_offset
        yield batch
    if after < upto:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"{file.path} ends with offset {after}, and {upto} is indexed")


def batches(file: File, position: int, end: int) -> Iterator[Batch]:
    """Each batch from `position` up to `end`, whole; checksums are for the caller to look at."""
    chunk = _CHUNK_BYTES
    while position < end:
        data = file.read(position, min(chunk, end - position))
        at, chunk = 0, _CHUNK_BYTES
        while not at or at + HEADER_SIZE <= len(data):
            batch = _batch(file, data, at, position)
            if at + batch.size > len(data):
                break
            yield batch
            at += batch.size
        if not at:
            if position + batch.size > end:
                raise _torn(file, position, end)
            chunk = batch.size
        position += at


def place_at(file: File, position: int) -> tuple[int, int, int]:
    """Base offset, last offset and size of the batch at `position`."""
    data = file.read(position, _PLACE.size)
    if len(data) < _PLACE.size:
        raise _no_batch(file, position)
    base, length, magic, delta = _PLACE.unpack(data)
    if magic != MAGIC or length < HEADER_SIZE - LOG_OVERHEAD:
        raise _no_batch(file, position)
    return base, base + delta, length + LOG_OVERHEAD


def walk_to(file: File, offset: int, position: int, end: int) -> int:
    """Where the first batch begins that ends at `offset` or later; `end` if there is none.

    `position` is 0 or where a batch begins that does not begin after `offset`.
    """
    unpack, need = _PLACE.unpack_from, _PLACE.size
    start = position
    if start and start >= end:
        raise _no_batch(file, start)
    while position < end:
        data = file.read(position, min(_WALK_BYTES, end - position))
        at, last = 0, len(data) - need
        while at <= last:
            base, length, magic, delta = unpack(data, at)
            if magic != MAGIC or length < HEADER_SIZE - LOG_OVERHEAD:
                raise _no_batch(file, position + at)
            if base + delta >= offset:
                if base > offset and start and position + at == start:
                    raise _no_batch(file, start)  # there is one, but not the one looked for
                return position + at
            at += length + LOG_OVERHEAD
        if not at:
            raise _torn(file, position, end)
        position += at
    return end


def last_end(file: File, position: int, target: int, *, first: bool) -> int:
    """The last end of a batch from `position` on that is not beyond `target`.

    With `first`, the batch at `position` counts however large it is.
    """
    unpack, need = _PLACE.unpack_from, _PLACE.size
    start = position
    while True:
        data = file.read(position, min(_WALK_BYTES, max(target - position, need)))
        at, last = 0, len(data) - need
        while at <= last:
            _, length, magic, _ = unpack(data, at)
            if magic != MAGIC or length < HEADER_SIZE - LOG_OVERHEAD:
                raise _no_batch(file, position + at)
            after = at + length + LOG_OVERHEAD
            if position + after > target:
                return position + after if first and position + at == start else position + at
            at = after
        if not at:
            return position
        position += at


def _batch(file: File, data: bytes, at: int, position: int) -> Batch:
    """The batch at `at` of what was read from `position` on."""
    try:
        batch = Batch(data, at)
    except ProtocolError:
        raise _no_batch(file, position + at) from None
    check_magic(batch.magic)
    return batch


def _no_batch(file: File, position: int) -> ProtocolError:
    return ErrorCode.CORRUPT_MESSAGE.error(f"no batch at byte {position} of {file.path}")


def _torn(file: File, position: int, end: int) -> ProtocolError:
    return ErrorCode.CORRUPT_MESSAGE.error(f"the batch at byte {position} of {file.path} goes beyond {end}")
