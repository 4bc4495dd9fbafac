"""The settings of one topic's logs, under Kafka's own names.

Every setting may be given to a topic by itself; the broker's settings named in `broker=` give the default to
all others. Defaults and bounds are those of Kafka 4.3.

Bounds hold for what users type. A test or a simulation that wants small segments makes its own
`LogSettings(segment_bytes=…)`, or sets `internal.segment.bytes` as Kafka's own tests do.
"""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import (
    BOOLEAN,
    DAY,
    DOUBLE,
    GIB,
    HOUR,
    INT,
    KIB,
    LIST,
    LONG,
    MAX_LONG,
    MIB,
    MINUTE,
    STRING,
    SettingError,
    hours,
    inert_setting,
    minutes,
    topic_setting,
)

CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")


UNTIERED = "there is no tiered storage"


def _remote_complaint(enabled: bool) -> str | None:
    return f"{UNTIERED}; false is all it may be" if enabled else None


def _gzip_level_complaint(level: int) -> str | None:
    return None if level == -1 or 1 <= level <= 9 else f"{level} is neither -1 nor from 1 to 9"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How a partition's log is cut into segments, flushed, kept and compacted."""

    segment_bytes: int = topic_setting(
        "segment.bytes",
        INT,
        1 * GIB,
        "Begin a new segment rather than let one grow beyond this size. Retention and compaction work on "
        "whole segments, so smaller ones are given up sooner and cost more files.",
        least=1 * MIB,
        broker="log.segment.bytes",
    )
    internal_segment_bytes: int | None = topic_setting(
        "internal.segment.bytes",
        INT,
        None,
        "The same without its lower bound, for tests.",
        least=1,
        internal=True,
    )
    segment_ms: int = topic_setting(
        "segment.ms",
        LONG,
        7 * DAY,
        "Begin a new segment when the first record of the current one is this old, though it is not full, "
        "so that retention and compaction can get at its records.",
        least=1,
        broker=("log.roll.ms", hours("log.roll.hours")),
    )
    segment_jitter_ms: int = topic_setting(
        "segment.jitter.ms",
        LONG,
        0,
        "Shorten segment.ms by a random time up to this, so that not all partitions roll at once.",
        least=0,
        broker=("log.roll.jitter.ms", hours("log.roll.jitter.hours")),
    )
    segment_index_bytes: int = topic_setting(
        "segment.index.bytes",
        INT,
        10 * MIB,
        "Begin a new segment rather than let its offset index grow beyond this size.",
        least=4,
        broker="log.index.size.max.bytes",
    )
    index_interval_bytes: int = topic_setting(
        "index.interval.bytes",
        INT,
        4 * KIB,
        "Bytes of log per entry of the offset index: fewer make reads land closer, and the index larger.",
        least=0,
        broker="log.index.interval.bytes",
    )
    flush_messages: int = topic_setting(
        "flush.messages",
        LONG,
        MAX_LONG,
        "Bring the log to the disk after this many records. By default that is left to the operating "
        "system, and a record is safe because other replicas hold it.",
        least=1,
        broker="log.flush.interval.messages",
    )
    flush_ms: int = topic_setting(
        "flush.ms",
        LONG,
        MAX_LONG,
        "Bring the log to the disk when a record in it has waited this long.",
        least=0,
        broker=("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    )
    retention_ms: int = topic_setting(
        "retention.ms",
        LONG,
        7 * DAY,
        "Delete a segment when its newest record is older than this; -1 keeps it for ever. Counts where "
        "cleanup.policy has delete.",
        least=-1,
        broker=("log.retention.ms", minutes("log.retention.minutes"), hours("log.retention.hours")),
    )
    retention_bytes: int = topic_setting(
        "retention.bytes",
        LONG,
        -1,
        "Delete the oldest segments of a partition while what remains is at least this large; -1 sets no "
        "limit. Counts where cleanup.policy has delete.",
        broker="log.retention.bytes",
    )
    max_message_bytes: int = topic_setting(
        "max.message.bytes",
        INT,
        1 * MIB + 12,
        "The largest record batch that is taken in, as it is stored: compressed, with its header.",
        least=0,
        broker="message.max.bytes",
    )
    message_timestamp_type: str = topic_setting(
        "message.timestamp.type",
        STRING,
        "CreateTime",
        "Whether a record keeps the time its producer gave it or gets the time at which it was appended.",
        choices=("CreateTime", "LogAppendTime"),
        broker="log.message.timestamp.type",
    )
    message_timestamp_before_max_ms: int = topic_setting(
        "message.timestamp.before.max.ms",
        LONG,
        MAX_LONG,
        "Refuse records whose timestamp lies further back from the broker's clock than this. Of no effect "
        "with LogAppendTime.",
        least=0,
        broker="log.message.timestamp.before.max.ms",
    )
    message_timestamp_after_max_ms: int = topic_setting(
        "message.timestamp.after.max.ms",
        LONG,
        1 * HOUR,
        "Refuse records whose timestamp lies further ahead of the broker's clock than this. Of no effect "
        "with LogAppendTime.",
        least=0,
        broker="log.message.timestamp.after.max.ms",
    )
    compression_type: str = topic_setting(
        "compression.type",
        STRING,
        "producer",
        "The codec in which batches are stored. `producer` keeps whatever the producer chose, and costs "
        "nothing.",
        choices=CODECS,
        broker="compression.type",
    )
    compression_gzip_level: int = topic_setting(
        "compression.gzip.level",
        INT,
        -1,
        "The level where compression.type is gzip: 1 (quick) to 9 (small), -1 for gzip's own default.",
        check=_gzip_level_complaint,
        broker="compression.gzip.level",
    )
    compression_lz4_level: int = topic_setting(
        "compression.lz4.level",
        INT,
        9,
        "The level where compression.type is lz4.",
        least=1,
        most=17,
        broker="compression.lz4.level",
    )
    compression_zstd_level: int = topic_setting(
        "compression.zstd.level",
        INT,
        3,
        "The level where compression.type is zstd.",
        least=-131072,
        most=22,
        broker="compression.zstd.level",
    )
    cleanup_policy: tuple[str, ...] = topic_setting(
        "cleanup.policy",
        LIST,
        ("delete",),
        "What happens to old records: delete drops whole segments by age and size, compact keeps the latest"
        " record of each key, both do both, and an empty list keeps everything.",
        choices=("compact", "delete"),
        broker="log.cleanup.policy",
    )
    delete_retention_ms: int = topic_setting(
        "delete.retention.ms",
        LONG,
        1 * DAY,
        "How long compaction keeps a tombstone (a key without a value), and the marker of a transaction that has no "
        "records left, after it has cleaned up to it: the time a reader from the beginning has to see that the key is "
        "gone. A consumer that takes longer, or a follower that is away for longer, may miss them, as in Kafka.",
        least=0,
        broker="log.cleaner.delete.retention.ms",
    )
    min_cleanable_dirty_ratio: float = topic_setting(
        "min.cleanable.dirty.ratio",
        DOUBLE,
        0.5,
        "Compact a log when at least this share of it has not been compacted yet.",
        least=0,
        most=1,
        broker="log.cleaner.min.cleanable.ratio",
    )
    min_compaction_lag_ms: int = topic_setting(
        "min.compaction.lag.ms",
        LONG,
        0,
        "How long a record is safe from compaction.",
        least=0,
        broker="log.cleaner.min.compaction.lag.ms",
    )
    max_compaction_lag_ms: int = topic_setting(
        "max.compaction.lag.ms",
        LONG,
        MAX_LONG,
        "How long a record may wait for compaction, whatever the share of the log that is dirty.",
        least=1,
        broker="log.cleaner.max.compaction.lag.ms",
    )
    file_delete_delay_ms: int = topic_setting(
        "file.delete.delay.ms",
        LONG,
        1 * MINUTE,
        "How long a file given up stays on the disk under its deleted name, for whoever is still reading it.",
        least=0,
        broker="log.segment.delete.delay.ms",
    )
    leader_replication_throttled_replicas: tuple[str, ...] = topic_setting(
        "leader.replication.throttled.replicas",
        LIST,
        (),
        "Replicas, as partition:broker, or * for all, to which their leaders send no faster than "
        "leader.replication.throttled.rate of the broker.",
    )
    follower_replication_throttled_replicas: tuple[str, ...] = topic_setting(
        "follower.replication.throttled.replicas",
        LIST,
        (),
        "Replicas, as partition:broker, or * for all, that fetch no faster than "
        "follower.replication.throttled.rate of the broker.",
    )
    min_insync_replicas: int = topic_setting(
        "min.insync.replicas",
        INT,
        1,
        "How many replicas must be in sync for a write with acks=all to be taken.",
        least=1,
        broker="min.insync.replicas",
    )
    unclean_leader_election_enable: bool = topic_setting(
        "unclean.leader.election.enable",
        BOOLEAN,
        False,
        "Whether a replica that is not in sync may lead when no other can: what it does not have is then lost.",
        broker="unclean.leader.election.enable",
    )

    # ── Kafka's, without effect ──
    preallocate: bool = inert_setting(
        "preallocate", BOOLEAN, False, "a segment grows as it is written", broker="log.preallocate"
    )
    remote_storage_enable: bool = inert_setting(
        "remote.storage.enable", BOOLEAN, False, UNTIERED, check=_remote_complaint
    )
    remote_log_copy_disable: bool = inert_setting("remote.log.copy.disable", BOOLEAN, False, UNTIERED)
    remote_log_delete_on_disable: bool = inert_setting(
        "remote.log.delete.on.disable", BOOLEAN, False, UNTIERED
    )
    local_retention_ms: int = inert_setting(
        "local.retention.ms", LONG, -2, UNTIERED, least=-2, broker="log.local.retention.ms"
    )
    local_retention_bytes: int = inert_setting(
        "local.retention.bytes", LONG, -2, UNTIERED, least=-2, broker="log.local.retention.bytes"
    )

    def __post_init__(self) -> None:
        if self.internal_segment_bytes is not None:
            object.__setattr__(self, "segment_bytes", self.internal_segment_bytes)

    def check(self) -> None:
        """Complain about settings that are right one by one and cannot stand together."""
        least, most = self.min_compaction_lag_ms, self.max_compaction_lag_ms
        if least > most:
            raise SettingError("min.compaction.lag.ms", f"{least} is above max.compaction.lag.ms, {most}")
