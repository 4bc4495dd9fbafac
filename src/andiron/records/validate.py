"""What a producer may send: the checks between a produce request and the log.

`check_produced` and `check_timestamps` look at the header and the checksum only: their cost is
per batch. `check_keys` opens the batch, and is asked for topics with cleanup.policy=compact.

The law: clients act on the number of a refusal, so it must be Kafka's. CORRUPT_MESSAGE says that
bytes were damaged on the way: the same batch is sent again. INVALID_RECORD says that its sender
made it wrong: it is not. MESSAGE_TOO_LARGE makes producers split the batch. Where several things
are wrong, Kafka's order decides which one is said.

Held against Kafka 4.1's own validation, byte for byte, the differences are these:

    a batch cut short                  CORRUPT_MESSAGE; Kafka: INVALID_RECORD
    stray bytes after the batch        CORRUPT_MESSAGE; Kafka drops them
    a codec that does not exist        UNSUPPORTED_COMPRESSION_TYPE; Kafka: UNKNOWN_SERVER_ERROR
    the append-time bit, set           INVALID_TIMESTAMP; Kafka clears it where the topic has CreateTime
    nonsense under a right checksum    stored; Kafka opens every batch and may refuse it
    timestamps                         first and latest, from the header; Kafka: every record's
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.records.batch import APPEND_TIME, CODEC_MASK, CONTROL, MAGIC, Batch, Bytes, iterate
from andiron.records.compression import UNPACKED_BYTES_MAX, ZSTD
from andiron.records.record import contents, keys_of

_MAGIC_AT = 16


def check_produced(records: Bytes | None, max_message_bytes: int, *, zstd: bool = True) -> Batch:
    """The one batch that a produce request brings for a partition, header and checksum checked.

    `zstd` is whether the request's version (7 or later) may carry that codec.
    """
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
    return batch


def check_timestamps(
    batch: Batch, now: int, *, append_time: bool, before_max_ms: int, after_max_ms: int
) -> None:
    """Refuse clocks too far off; under LogAppendTime the producer's clock does not matter."""
    if batch.attributes & APPEND_TIME:
        raise ErrorCode.INVALID_TIMESTAMP.error("clients do not set the time of append")
    if append_time:
        return
    earliest, latest = batch.base_timestamp, batch.max_timestamp
    if earliest >= 0 and now - earliest > before_max_ms:
        raise ErrorCode.INVALID_TIMESTAMP.error(f"{earliest} is more than {before_max_ms} ms before {now}")
    if latest >= 0 and latest - now > after_max_ms:
        raise ErrorCode.INVALID_TIMESTAMP.error(f"{latest} is more than {after_max_ms} ms after {now}")


def check_keys(batch: Batch, cap: int = UNPACKED_BYTES_MAX) -> None:
    """Refuse records that compaction could not tell apart: those without a key."""
    for at in keys_of(batch, contents(batch, cap)):
        if at.key is None:
            raise ErrorCode.INVALID_RECORD.error(
                f"record {at.offset - batch.base_offset} of the batch has no key, and the topic is compacted"
            )


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
