"""The settings of the group coordinator, under Kafka's own names.

A group that assigns on the broker may have settings of its own, within bounds that the broker's settings draw:
`consumer.session.timeout.ms` of a group lies between `group.consumer.min.` and `group.consumer.max.session.timeout.ms`.
"""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import (
    BOOLEAN,
    INT,
    LIST,
    LONG,
    MAX_INT,
    MIB,
    MINUTE,
    SECOND,
    SHORT,
    STRING,
    inert_setting,
    setting,
    topic_setting,
)

POLICIES = ("disabled", "downgrade", "upgrade", "bidirectional")
AT_ONCE = "a target assignment is made at once when one is due"
NO_SHARE = "share groups are not served"
NO_STREAMS = "streams groups are not served"


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """How groups are kept, and for how long."""

    # ── the topic they are kept in ──
    offsets_topic_num_partitions: int = setting(
        "offsets.topic.num.partitions",
        INT,
        50,
        "Partitions of __consumer_offsets. It must not change once the topic is there.",
        least=1,
        most=10_000,
    )
    offsets_topic_replication_factor: int = setting(
        "offsets.topic.replication.factor",
        SHORT,
        3,
        "Replicas of __consumer_offsets. The topic is made when there are that many brokers.",
        least=1,
    )
    offsets_topic_segment_bytes: int = setting(
        "offsets.topic.segment.bytes",
        INT,
        100 * MIB,
        "Segments of __consumer_offsets: smaller ones are compacted sooner and load faster.",
        least=1 * MIB,
    )

    # ── offsets ──
    offset_metadata_max_bytes: int = setting(
        "offset.metadata.max.bytes", INT, 4096, "The longest text that may be committed with an offset."
    )
    offsets_commit_timeout_ms: int = setting(
        "offsets.commit.timeout.ms",
        INT,
        5 * SECOND,
        "How long a change to a group may take to be committed before whoever asked for it is told to retry.",
        least=1,
    )
    offsets_retention_minutes: int = setting(
        "offsets.retention.minutes",
        INT,
        7 * 24 * 60,
        "How long the offsets of a group without members are kept.",
        least=1,
    )
    offsets_retention_check_interval_ms: int = setting(
        "offsets.retention.check.interval.ms",
        LONG,
        10 * MINUTE,
        "How often offsets are looked through for those that have expired.",
        least=1,
    )

    # ── the classic protocol ──
    group_min_session_timeout_ms: int = setting(
        "group.min.session.timeout.ms", INT, 6 * SECOND, "The shortest session timeout a member may ask for."
    )
    group_max_session_timeout_ms: int = setting(
        "group.max.session.timeout.ms", INT, 30 * MINUTE, "The longest session timeout a member may ask for."
    )
    group_initial_rebalance_delay_ms: int = setting(
        "group.initial.rebalance.delay.ms",
        INT,
        3 * SECOND,
        "How long the first rebalance of an empty group waits for more members to come. `andiron up` without --config "
        "sets it to 0: who develops has few members, and would wait at every start of a consumer.",
    )
    group_max_size: int = setting(
        "group.max.size", INT, MAX_INT, "The most members that a classic group may have.", least=1
    )

    # ── groups that assign on the broker ──
    group_consumer_session_timeout_ms: int = setting(
        "group.consumer.session.timeout.ms",
        INT,
        45 * SECOND,
        "How long a member may be silent before it is taken for gone.",
        least=1,
    )
    group_consumer_min_session_timeout_ms: int = setting(
        "group.consumer.min.session.timeout.ms",
        INT,
        45 * SECOND,
        "The shortest session timeout that a group may have.",
        least=1,
    )
    group_consumer_max_session_timeout_ms: int = setting(
        "group.consumer.max.session.timeout.ms",
        INT,
        60 * SECOND,
        "The longest session timeout that a group may have.",
        least=1,
    )
    group_consumer_heartbeat_interval_ms: int = setting(
        "group.consumer.heartbeat.interval.ms",
        INT,
        5 * SECOND,
        "How often members are told to send a heartbeat.",
        least=1,
    )
    group_consumer_min_heartbeat_interval_ms: int = setting(
        "group.consumer.min.heartbeat.interval.ms",
        INT,
        5 * SECOND,
        "The shortest heartbeat interval that a group may have.",
        least=1,
    )
    group_consumer_max_heartbeat_interval_ms: int = setting(
        "group.consumer.max.heartbeat.interval.ms",
        INT,
        15 * SECOND,
        "The longest heartbeat interval that a group may have.",
        least=1,
    )
    group_consumer_max_size: int = setting(
        "group.consumer.max.size", INT, MAX_INT, "The most members that such a group may have.", least=1
    )
    group_consumer_assignors: tuple[str, ...] = setting(
        "group.consumer.assignors",
        LIST,
        ("uniform", "range"),
        "The assignors that members may choose from; the first is for those who choose none.",
        choices=("uniform", "range"),
    )
    group_consumer_migration_policy: str = setting(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        "Whether a group may go over from the classic protocol to the new one and back while it runs.",
    )
    group_consumer_regex_refresh_interval_ms: int = setting(
        "group.consumer.regex.refresh.interval.ms",
        INT,
        10 * MINUTE,
        "How often a subscription by pattern is looked up again although the topics seem the same.",
        least=10 * SECOND,
        internal=True,
    )


@dataclass(frozen=True, slots=True)
class GroupConfigs:
    """Group configs: the settings that a consumer group may have of its own."""

    consumer_session_timeout_ms: int = topic_setting(
        "consumer.session.timeout.ms",
        INT,
        45 * SECOND,
        "How long a member of the group may be silent before it is taken for gone.",
        broker="group.consumer.session.timeout.ms",
        least=1,
    )
    consumer_heartbeat_interval_ms: int = topic_setting(
        "consumer.heartbeat.interval.ms",
        INT,
        5 * SECOND,
        "How often members of the group are told to send a heartbeat.",
        broker="group.consumer.heartbeat.interval.ms",
        least=1,
    )

    # ── Kafka's, without effect ──
    consumer_assignment_interval_ms: int = inert_setting(
        "consumer.assignment.interval.ms",
        INT,
        1 * SECOND,
        AT_ONCE,
        broker="group.consumer.assignment.interval.ms",
        least=0,
    )
    share_session_timeout_ms: int = inert_setting(
        "share.session.timeout.ms",
        INT,
        45 * SECOND,
        NO_SHARE,
        broker="group.share.session.timeout.ms",
        least=1,
    )
    share_heartbeat_interval_ms: int = inert_setting(
        "share.heartbeat.interval.ms",
        INT,
        5 * SECOND,
        NO_SHARE,
        broker="group.share.heartbeat.interval.ms",
        least=1,
    )
    share_record_lock_duration_ms: int = inert_setting(
        "share.record.lock.duration.ms",
        INT,
        30 * SECOND,
        NO_SHARE,
        broker="group.share.record.lock.duration.ms",
        least=1 * SECOND,
    )
    share_delivery_count_limit: int = inert_setting(
        "share.delivery.count.limit", INT, 5, NO_SHARE, broker="group.share.delivery.count.limit", least=2
    )
    share_partition_max_record_locks: int = inert_setting(
        "share.partition.max.record.locks",
        INT,
        2000,
        NO_SHARE,
        broker="group.share.partition.max.record.locks",
        least=100,
    )
    share_auto_offset_reset: str = inert_setting("share.auto.offset.reset", STRING, "latest", NO_SHARE)
    share_isolation_level: str = inert_setting(
        "share.isolation.level",
        STRING,
        "read_uncommitted",
        NO_SHARE,
        choices=("read_committed", "read_uncommitted"),
    )
    share_renew_acknowledge_enable: bool = inert_setting(
        "share.renew.acknowledge.enable", BOOLEAN, True, NO_SHARE
    )
    share_assignment_interval_ms: int = inert_setting(
        "share.assignment.interval.ms",
        INT,
        1 * SECOND,
        NO_SHARE,
        broker="group.share.assignment.interval.ms",
        least=0,
    )
    streams_session_timeout_ms: int = inert_setting(
        "streams.session.timeout.ms",
        INT,
        45 * SECOND,
        NO_STREAMS,
        broker="group.streams.session.timeout.ms",
        least=1,
    )
    streams_heartbeat_interval_ms: int = inert_setting(
        "streams.heartbeat.interval.ms",
        INT,
        5 * SECOND,
        NO_STREAMS,
        broker="group.streams.heartbeat.interval.ms",
        least=1,
    )
    streams_num_standby_replicas: int = inert_setting(
        "streams.num.standby.replicas",
        INT,
        0,
        NO_STREAMS,
        broker="group.streams.num.standby.replicas",
        least=0,
    )
    streams_initial_rebalance_delay_ms: int = inert_setting(
        "streams.initial.rebalance.delay.ms",
        INT,
        3 * SECOND,
        NO_STREAMS,
        broker="group.streams.initial.rebalance.delay.ms",
        least=0,
    )
    streams_assignment_interval_ms: int = inert_setting(
        "streams.assignment.interval.ms",
        INT,
        1 * SECOND,
        NO_STREAMS,
        broker="group.streams.assignment.interval.ms",
        least=0,
    )
