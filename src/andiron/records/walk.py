"""The records of one batch, looked at one by one before a leader appends it: the way without a compiler.

    length · attributes · timestamp delta · offset delta · key length · key · value length · value
           · header count · (key length · key · value length · value)*

A batch whose bytes make no sense is refused as a whole: ValueError says what is wrong. Of one that does, the
answer is the latest timestamp, and which records the topic does not take: those without a key where it wants
one, and those outside its bounds of time; a record without a timestamp is outside of none. In most batches
there is nothing to tell, and the answer is None.

The law: it takes and refuses exactly what native/walk.c does, in the same words
(tests/properties/test_records.py). Nothing is kept of a record, so memory does not grow with their number.

Read next: validate.py, which asks.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from andiron.model.errors import ProtocolError
from andiron.records.varint import VARINT_BYTES_MAX, VARLONG_BYTES_MAX, read_varint

Bytes = bytes | bytearray | memoryview

RECORD_BYTES_MIN: Final = 7  # length, attributes, timestamp, offset, key, value, headers: a byte each
NO_KEY, OUT_OF_TIME = range(2)  # what is wrong with a record that is not taken

_NO_TIMESTAMP = -1
_INT32_MAX, _INT64_MAX = (1 << 31) - 1, (1 << 63) - 1


class WalkResult(NamedTuple):
    """The latest timestamp of a batch's records, and those of them that the topic does not take."""

    max_timestamp: int  # -1 if no record has one
    faults: int  # records that are not taken
    told: tuple[tuple[int, int], ...]  # index and fault of the first of these


class Walk(Protocol):
    """The walk, here or compiled: both answer with these three, the latter with a plain tuple."""

    def __call__(
        self, data: Bytes, start: int, stop: int, base_timestamp: int, max_timestamp: int, count: int,
        earliest: int, latest: int, keyed: bool, told_max: int, /,
    ) -> tuple[int, int, tuple[tuple[int, int], ...]] | None: ...  # fmt: skip


def walk(
    data: Bytes, start: int, stop: int, base_timestamp: int, max_timestamp: int, count: int,
    earliest: int, latest: int, keyed: bool, told_max: int, /,
) -> WalkResult | None:  # fmt: skip
    """Look at the `count` records that lie from `start` to `stop` of `data`, which they must fill.

    None: all is as it should be, and `max_timestamp` is theirs.
    """
    check_room(count, stop - start)
    walked, at = look_at(data, start, stop, base_timestamp, count, earliest, latest, keyed, told_max)
    if at != stop:
        raise ValueError("the records do not fill their batch")
    return None if not walked.faults and walked.max_timestamp == max_timestamp else walked


def check_room(count: int, size: int) -> None:
    """Refuse a number of records that cannot be in so many bytes."""
    if not 0 <= count <= size // RECORD_BYTES_MIN:
        raise ValueError("more records than there is room for")


def look_at(
    data: Bytes, at: int, end: int, base_timestamp: int, count: int,
    earliest: int, latest: int, keyed: bool, told_max: int,
) -> tuple[WalkResult, int]:  # fmt: skip
    """The first `count` records, and where they end."""
    max_timestamp, faults, told = _NO_TIMESTAMP, 0, []
    for index in range(count):
        length, at = _int(data, at, end, "a record beyond its batch")
        if not 1 <= length <= end - at:
            raise ValueError("a record beyond its batch")
        stop = at + length
        delta, at = _long(data, at + 1, stop, "a record ends too soon")
        offset, at = _int(data, at, stop, "a record ends too soon")
        if offset != index:
            raise ValueError("offsets that are not one after the other")
        key, at = _blob(data, at, stop, "a key or value beyond its record")
        _, at = _blob(data, at, stop, "a key or value beyond its record")
        headers, at = _int(data, at, stop, "a record ends too soon")
        if headers:
            at = _after_headers(data, at, stop, headers)
        if at != stop:
            raise ValueError("a record is longer than what it holds")
        timestamp = base_timestamp + delta
        if not -_INT64_MAX - 1 <= timestamp <= _INT64_MAX:
            raise ValueError("a timestamp of more than 64 bits")
        max_timestamp = max(max_timestamp, timestamp)
        nameless = keyed and key < 0
        if nameless or (timestamp != _NO_TIMESTAMP and not earliest <= timestamp <= latest):
            if faults < told_max:
                told.append((index, NO_KEY if nameless else OUT_OF_TIME))
            faults += 1
    return WalkResult(max_timestamp, faults, tuple(told)), at


def _after_headers(data: Bytes, at: int, stop: int, count: int) -> int:
    if not 0 <= count <= (stop - at) // 2:
        raise ValueError("a number of headers that makes no sense")
    for _ in range(count):
        length, at = _blob(data, at, stop, "a header without a key")
        if length < 0:
            raise ValueError("a header without a key")
        _, at = _blob(data, at, stop, "a header beyond its record")
    return at


def _blob(data: Bytes, at: int, stop: int, trouble: str) -> tuple[int, int]:
    """The length of the key or value at `at`, and where it ends."""
    length, at = _int(data, at, stop, trouble)
    if not -1 <= length <= stop - at:
        raise ValueError(trouble)
    return length, at + max(0, length)


def _int(data: Bytes, at: int, stop: int, trouble: str) -> tuple[int, int]:
    """A number of 32 bits, in no more bytes than it needs at most: Java reads no others."""
    number, after = _long(data, at, stop, trouble)
    if after - at > VARINT_BYTES_MAX or not -_INT32_MAX - 1 <= number <= _INT32_MAX:
        raise ValueError(trouble)
    return number, after


def _long(data: Bytes, at: int, stop: int, trouble: str) -> tuple[int, int]:
    try:
        number, after = read_varint(data, at)
    except ProtocolError as error:
        raise ValueError(trouble) from error
    if after > stop or (after - at == VARLONG_BYTES_MAX and data[after - 1] > 1):
        raise ValueError(trouble)
    return number, after
