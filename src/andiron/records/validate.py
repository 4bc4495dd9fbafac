"""What a producer may send: the checks between a produce request and the log.

    check_batch       both of these:
    check_produced    header and checksum: is it one batch, whole, and a client's to write?
    check_records     every record in it: do they make sense, and does this topic take them?

In nearly every batch all is as it should be. Where native/check.c was compiled, `check_batch` finds that out in one
call, and only a batch of which that cannot be said goes through the other two, which know what is wrong.

Whoever reads a log relies on its headers: retention and lookups on the largest timestamp, indexes on the last
offset. So what a header says is held against the records, which are unpacked for it, and a largest timestamp that
is not theirs is written anew (librdkafka says 0 of records that have none). Where native/walk.c was compiled that
costs some 10 ns a record. Without it the walk is in Python, and of a batch only the first WALKED_RECORDS_MAX
records are looked at; for a compacted topic, whose keys matter, all of them, and no more than KEYED_RECORDS_MAX
are taken in a batch.

The law: clients act on the number of a refusal, so it must be Kafka's. CORRUPT_MESSAGE says that
bytes were damaged on the way: the same batch is sent again. INVALID_RECORD says that its sender
made it wrong: it is not. MESSAGE_TOO_LARGE makes producers split the batch. Where several things
are wrong, Kafka's order decides which one is said.

Held against Kafka 4.3's own validation, byte for byte, the differences are these:

    a batch cut short                  CORRUPT_MESSAGE; Kafka: INVALID_RECORD
    stray bytes after the batch        CORRUPT_MESSAGE; Kafka drops them
    a length without an end, plain     INVALID_RECORD; Kafka: UNKNOWN_SERVER_ERROR
    lengths that are wrong, packed     INVALID_RECORD; Kafka looks less closely, and stores some
    a codec that does not exist        UNSUPPORTED_COMPRESSION_TYPE; Kafka: UNKNOWN_SERVER_ERROR
    the append-time bit, set           INVALID_TIMESTAMP; Kafka clears it where the topic has CreateTime
    offsets within the batch that are  INVALID_RECORD; Kafka numbers them anew if they are packed,
      not 0, 1, 2 …                    and stores them otherwise
    numbers in more bytes than they    INVALID_RECORD; Kafka drops the bits, and takes any negative
      may take, lengths below -1       length for a null
    unpacks to more than 32 times      MESSAGE_TOO_LARGE; Kafka unpacks whatever there is
      what the topic takes packed
    batches of a request that unpack   REQUEST_TIMED_OUT for the rest, which is sent again
      to more than 256 MiB together
    records that are not taken         the first 10,000 of a request are told of; Kafka tells of all
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol

from andiron.model.errors import ErrorCode, ProtocolError, Refused
from andiron.records import native
from andiron.records.batch import (
    APPEND_TIME,
    CODEC_MASK,
    CONTROL,
    HEADER_SIZE,
    MAGIC,
    Batch,
    Bytes,
    HeaderFields,
    iterate,
    stamp_max_timestamp,
)
from andiron.records.compression import UNPACKED_BYTES_MAX, ZSTD, unpacked
from andiron.records.walk import NO_KEY, OUT_OF_TIME, Walk, check_room, look_at, walk

WALKED_RECORDS_MAX: Final = 1_000  # in Python: some milliseconds
KEYED_RECORDS_MAX: Final = 100_000
TOLD_MAX: Final = 10_000

NO_EPOCH: Final = -1

_walk: Walk = native.walk or walk
_WALKED_MAX = WALKED_RECORDS_MAX if native.walk is None else 1 << 31
_MAGIC_AT = 16
_INT64_MAX = (1 << 63) - 1
_UNPACKED_RATIO_MAX, _MESSAGE_BYTES_USUAL = 32, 1 << 20
_ROOM_BYTES = 4 << 20
_ROOMS: list[bytearray] = []
_SHOWN = 3  # bad records in the message for all of them, as Kafka has it
_WORDS = {
    NO_KEY: "has no key, and the topic is compacted",
    OUT_OF_TIME: "has a timestamp outside the topic's limits",
}


class BadRecords(Refused):
    """Some records of a batch are not taken, and so none is: `records` are the index and the fault of each."""

    def __init__(self, code: ErrorCode, detail: str, records: tuple[tuple[int, str], ...]) -> None:
        super().__init__(code, detail)
        self.records = records

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.detail, self.records)


class ProduceLimits(NamedTuple):
    """What a topic takes of producers: the part of its settings that batches are held against."""

    max_message_bytes: int
    append_time: bool = False  # under LogAppendTime the producer's clock does not matter
    before_max_ms: int = _INT64_MAX
    after_max_ms: int = _INT64_MAX
    keyed: bool = False  # compacted topics need a key on every record

    def times(self, now: int) -> tuple[int, int]:
        """The earliest and the latest timestamp that is taken."""
        if self.append_time:
            return -_INT64_MAX - 1, _INT64_MAX
        return now - self.before_max_ms, min(now + self.after_max_ms, _INT64_MAX)


class Check(Protocol):
    """What can be said of a batch at a glance: its header, if nothing but what is packed in it remains to be looked at;
    None: look closer."""

    def __call__(
        self, records: Bytes | None, limits: ProduceLimits, now: int, zstd: bool, /
    ) -> HeaderFields | None: ...


def _look_closer(records: Bytes | None, limits: ProduceLimits, now: int, zstd: bool, /) -> None:
    """Nothing can, without a compiler."""


_check: Check = native.check or _look_closer


def check_batch(
    records: Bytes | None, limits: ProduceLimits, now: int, zstd: bool = True, allowance: Allowance | None = None
) -> Batch:  # fmt: skip
    """The one batch that a produce request brings for a partition, all of it checked, and with a header that is true.

    `zstd` is whether the request's version (7 or later) may carry that codec. A batch that does not come alone has part
    in an `allowance`.
    """
    fields = _check(records, limits, now, zstd)
    if fields is None:
        batch = check_produced(records, limits.max_message_bytes, zstd=zstd)
    else:
        assert records is not None, "there is a batch"
        batch = Batch(records, 0, fields)
        if not batch.attributes & CODEC_MASK:
            return batch
    return check_records(batch, limits, now, allowance)


def check_produced(records: Bytes | None, max_message_bytes: int, *, zstd: bool = True) -> Batch:
    """The one batch that `records` are, header and checksum checked."""
    batch = _only_batch(records)
    codec = batch.attributes & CODEC_MASK
    if codec >= ZSTD and (codec > ZSTD or not zstd):
        raise ErrorCode.UNSUPPORTED_COMPRESSION_TYPE.error(f"codec {codec}")
    if batch.base_offset:
        raise ErrorCode.INVALID_RECORD.error(f"base offset {batch.base_offset}: only the leader gives one")
    if batch.size > max_message_bytes:
        raise ErrorCode.MESSAGE_TOO_LARGE.error(f"{batch.size} bytes, where {max_message_bytes} are allowed")
    if not batch.is_intact():
        raise ErrorCode.CORRUPT_MESSAGE.error(f"the checksum is not {batch.crc:#010x}")
    if batch.count <= 0 or batch.last_offset_delta != batch.count - 1:
        raise ErrorCode.INVALID_RECORD.error(
            f"{batch.count} records with a last offset delta of {batch.last_offset_delta}"
        )
    if batch.attributes & CONTROL:
        raise ErrorCode.INVALID_RECORD.error("clients do not write control records")
    if batch.producer_id >= 0 and batch.base_sequence < 0:
        raise ErrorCode.INVALID_RECORD.error(f"producer {batch.producer_id} without a sequence")
    if batch.producer_id >= 0 and batch.producer_epoch < NO_EPOCH:
        raise ErrorCode.INVALID_PRODUCER_EPOCH.error(f"no producer has the epoch {batch.producer_epoch}")
    return batch


class Allowance:
    """What the batches of one request may still cost together."""

    __slots__ = ("told", "unpacked_bytes")

    def __init__(self) -> None:
        self.unpacked_bytes = UNPACKED_BYTES_MAX
        self.told = TOLD_MAX

    def unpack(self, batch: Batch, cap: int, room: bytearray) -> Bytes:
        """The contents of a batch, of at most `cap` bytes; REQUEST_TIMED_OUT if they alone would be fewer."""
        allowed = min(cap, self.unpacked_bytes)
        try:
            data = unpacked(batch.codec, batch.payload, allowed, room)
        except ProtocolError as error:
            if error.code is not ErrorCode.MESSAGE_TOO_LARGE or allowed == cap:
                raise
            self.unpacked_bytes = 0
            raise ErrorCode.REQUEST_TIMED_OUT.error(
                f"the batches of a request may unpack to {UNPACKED_BYTES_MAX} bytes together: send the rest again"
            ) from error
        self.unpacked_bytes -= len(data)
        return data


def check_records(batch: Batch, limits: ProduceLimits, now: int, allowance: Allowance | None = None) -> Batch:
    """The batch, with a header that is true; BadRecords tells of records that the topic does not take.

    The batch must have been through `check_produced`, and its buffer be writable if what it says of its timestamps is
    not so.
    """
    if batch.attributes & APPEND_TIME:
        raise ErrorCode.INVALID_TIMESTAMP.error("clients do not set the time of append")
    (earliest, latest), keyed = limits.times(now), limits.keyed
    look = _walk if batch.count <= _WALKED_MAX else _look_at_some
    claims = batch.base_timestamp, batch.max_timestamp, batch.count
    told_max = TOLD_MAX if allowance is None else max(1, allowance.told)
    try:
        if batch.attributes & CODEC_MASK:
            with _room() as room:
                data = (allowance or Allowance()).unpack(
                    batch, unpacked_bytes_max(limits.max_message_bytes), room
                )
                found = look(data, 0, len(data), *claims, earliest, latest, keyed, told_max)
        else:
            start, stop = batch.position + HEADER_SIZE, batch.position + batch.size
            found = look(batch.buf, start, stop, *claims, earliest, latest, keyed, told_max)
    except ValueError as error:
        raise ErrorCode.INVALID_RECORD.error(f"{batch}: {error}") from error
    if found is None:
        return batch
    max_timestamp, faults, told = found
    if faults:
        if allowance is not None:
            allowance.told -= len(told)
        raise _bad_records(faults, told)
    if limits.append_time:
        return batch
    assert not isinstance(batch.buf, bytes), "a header that is not true is written anew"
    return stamp_max_timestamp(batch.buf, batch.position, max_timestamp)


@contextmanager
def _room() -> Iterator[bytearray]:
    """Memory to unpack into, kept for the next batch: fresh pages cost more than what is written to them."""
    room = _ROOMS.pop() if _ROOMS else bytearray(_ROOM_BYTES)
    try:
        yield room
    finally:
        _ROOMS.append(room)


def unpacked_bytes_max(max_message_bytes: int) -> int:
    """How much one batch may be when it is opened, so that no bomb goes off.

    Thirty-two times what it may be packed: at the default 32 MiB, measured in docs/operations.md to take 50 to 85 ms.
    """
    return min(UNPACKED_BYTES_MAX, _UNPACKED_RATIO_MAX * max(max_message_bytes, _MESSAGE_BYTES_USUAL))


def _look_at_some(
    data: Bytes, start: int, stop: int, base_timestamp: int, max_timestamp: int, count: int,
    earliest: int, latest: int, keyed: bool, told_max: int, /,
) -> tuple[int, int, tuple[tuple[int, int], ...]] | None:  # fmt: skip
    """What the first records say of a batch that has more than Python can look at while others wait."""
    check_room(count, stop - start)
    if keyed:
        if count > KEYED_RECORDS_MAX:
            raise ErrorCode.MESSAGE_TOO_LARGE.error(f"{count} records, where {KEYED_RECORDS_MAX} are allowed")
        return walk(
            data, start, stop, base_timestamp, max_timestamp, count, earliest, latest, keyed, told_max
        )
    (seen, faults, told), _ = look_at(
        data, start, stop, base_timestamp, WALKED_RECORDS_MAX, earliest, latest, keyed, told_max
    )
    # What has no timestamp so far has none: a claim would make it as old as it says.
    believed = max(seen, max_timestamp) if seen >= 0 else seen
    if not faults and believed >= 0 and not earliest <= believed <= latest:
        raise ErrorCode.INVALID_TIMESTAMP.error(f"{believed} is outside the topic's limits")
    return believed, faults, told


def _bad_records(faults: int, told: tuple[tuple[int, int], ...]) -> BadRecords:
    untimely = any(fault == OUT_OF_TIME for _, fault in told)
    code = ErrorCode.INVALID_TIMESTAMP if untimely else ErrorCode.INVALID_RECORD
    shown = ", ".join(f"record {index} {_WORDS[fault]}" for index, fault in told[:_SHOWN])
    more = ", …" if faults > _SHOWN else ""
    records = tuple((index, _WORDS[fault]) for index, fault in told)
    return BadRecords(code, f"{faults} records of the batch are not taken: {shown}{more}", records)


def _only_batch(records: Bytes | None) -> Batch:
    if not records:
        raise ErrorCode.INVALID_RECORD.error("no records: a produce request brings one batch a partition")
    if len(records) > _MAGIC_AT and records[_MAGIC_AT] != MAGIC:
        magic = records[_MAGIC_AT]
        old = magic in (0, 1)
        raise (ErrorCode.INVALID_RECORD if old else ErrorCode.CORRUPT_MESSAGE).error(
            f"magic {magic}, not {MAGIC}"
        )
    batch = Batch(records)
    if batch.size > len(records):
        raise ErrorCode.CORRUPT_MESSAGE.error(f"a batch of {batch.size} bytes in {len(records)}")
    if batch.size < len(records):
        _refuse_rest(records, batch.size)
    return batch


def _refuse_rest(records: Bytes, position: int) -> None:
    for _ in iterate(records, position):
        raise ErrorCode.INVALID_RECORD.error("more than one batch for a partition")
    raise ErrorCode.CORRUPT_MESSAGE.error(f"{len(records) - position} bytes after the batch")
