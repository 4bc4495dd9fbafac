"""What an operator can say about the metadata quorum and its log, under Kafka's own names."""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import DAY, GIB, HOUR, INT, LONG, MIB, SECOND, setting


@dataclass(frozen=True, slots=True)
class QuorumSettings:
    """How long the nodes of the quorum wait for each other."""

    controller_quorum_election_timeout_ms: int = setting(
        "controller.quorum.election.timeout.ms",
        INT,
        1 * SECOND,
        "How long a voter that knows no leader waits before it stands for election, and at most twice that.",
        least=1,
    )
    controller_quorum_election_backoff_max_ms: int = setting(
        "controller.quorum.election.backoff.max.ms",
        INT,
        1 * SECOND,
        "The longest pause after an election that nobody has won.",
        least=1,
    )
    controller_quorum_fetch_timeout_ms: int = setting(
        "controller.quorum.fetch.timeout.ms",
        INT,
        2 * SECOND,
        "How long a voter goes on without hearing of its leader before it would have another, and how long a leader "
        "goes on without hearing of a majority.",
        least=4,
    )
    controller_quorum_request_timeout_ms: int = setting(
        "controller.quorum.request.timeout.ms",
        INT,
        2 * SECOND,
        "How long an answer of another node of the quorum is waited for.",
        least=1,
    )
    controller_quorum_retry_backoff_ms: int = setting(
        "controller.quorum.retry.backoff.ms",
        INT,
        20,
        "How long to wait before a request of the quorum is tried again.",
        least=1,
    )
    controller_quorum_fetch_snapshot_max_bytes: int = setting(
        "controller.quorum.fetch.snapshot.max.bytes",
        INT,
        1 * MIB,
        "The size of the pieces in which a node that is far behind fetches a snapshot of the metadata.",
        least=1,
    )


@dataclass(frozen=True, slots=True)
class MetadataLogSettings:
    """How the metadata log is kept short."""

    metadata_log_max_record_bytes_between_snapshots: int = setting(
        "metadata.log.max.record.bytes.between.snapshots",
        LONG,
        20 * MIB,
        "After how much new metadata a snapshot of it is taken: less is to be read at a start, and more is written.",
        least=1,
    )
    metadata_log_max_snapshot_interval_ms: int = setting(
        "metadata.log.max.snapshot.interval.ms",
        LONG,
        1 * HOUR,
        "How long new metadata goes without a snapshot at most; 0 is for ever.",
        least=0,
    )
    metadata_max_retention_bytes: int = setting(
        "metadata.max.retention.bytes",
        LONG,
        100 * MIB,
        "How large the metadata log and its snapshots may become together before the oldest go; -1 is no limit. The "
        "newest snapshot and the log after it always stay.",
        least=-1,
    )
    metadata_max_retention_ms: int = setting(
        "metadata.max.retention.ms",
        LONG,
        7 * DAY,
        "How long a snapshot of the metadata, and the log up to it, stay once there are newer ones; -1 is for ever.",
        least=-1,
    )
    metadata_log_segment_bytes: int = setting(
        "metadata.log.segment.bytes",
        INT,
        1 * GIB,
        "The largest that a file of the metadata log becomes.",
        least=8 * MIB,
    )
    metadata_log_segment_ms: int = setting(
        "metadata.log.segment.ms",
        LONG,
        7 * DAY,
        "How long a file of the metadata log is written to at most.",
        least=1,
    )
