"""The settings of a broker, under Kafka's own names.

These are the ones that a broker has by itself. Those that give topics their defaults (`log.retention.hours`
and its like) follow from the topic's rows in log/settings.py; those of the cluster and of the coordinators are in
quorum/, controller/, replication/, groups/ and transactions/settings.py. BROKER_ROWS has them all.

What Kafka has beyond these is in inert_settings.py, with the reason why it has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from andiron.broker.settings.inert_settings import inert_rows
from andiron.controller.settings import MembershipSettings
from andiron.groups.settings import GroupConfigs, GroupSettings
from andiron.log.settings import LogSettings
from andiron.model.settings import (
    BOOLEAN,
    DAY,
    DOUBLE,
    INT,
    KIB,
    LIST,
    LONG,
    MAX_INT,
    MAX_LONG,
    MIB,
    MINUTE,
    SECOND,
    STRING,
    broker_rows,
    rows,
    setting,
)
from andiron.quorum.settings import MetadataLogSettings, QuorumSettings
from andiron.replication.settings import ReplicationSettings
from andiron.transactions.settings import TransactionSettings

MAX_DOUBLE = 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Who a node is, where it listens, where its data lies, and how much it takes on."""

    # ── who it is ──
    node_id: int = setting(
        "node.id",
        INT,
        None,
        "The number of this node, its own in the cluster. It must never change for a data directory.",
        least=0,
    )
    broker_id: int = setting("broker.id", INT, -1, "The older name of node.id; give one of the two.")
    process_roles: tuple[str, ...] = setting(
        "process.roles",
        LIST,
        None,
        "What the node is: a broker (it serves clients), a controller (it keeps the cluster's metadata) or "
        "both.",
        choices=("broker", "controller"),
    )
    broker_rack: str | None = setting(
        "broker.rack",
        STRING,
        None,
        "Where the broker stands. The replicas of a partition are spread over racks as far as that can be "
        "done.",
    )

    # ── where it listens ──
    listeners: tuple[str, ...] = setting(
        "listeners",
        LIST,
        ("PLAINTEXT://:9092",),
        "Where connections are accepted, as NAME://host:port. No host means every address of the machine.",
    )
    advertised_listeners: tuple[str, ...] | None = setting(
        "advertised.listeners",
        LIST,
        None,
        "The addresses under which clients reach the listeners of these names, where they differ from "
        "listeners.",
    )
    listener_security_protocol_map: str = setting(
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "The protocol of each listener name, as NAME:PROTOCOL. A listener that is opened must be PLAINTEXT.",
    )
    inter_broker_listener_name: str | None = setting(
        "inter.broker.listener.name",
        STRING,
        None,
        "The listener that other brokers connect to; PLAINTEXT, else the first, if none is named.",
    )
    security_inter_broker_protocol: str = setting(
        "security.inter.broker.protocol",
        STRING,
        "PLAINTEXT",
        "The protocol between brokers. inter.broker.listener.name is the better way to say it.",
        choices=("PLAINTEXT",),
    )
    controller_listener_names: tuple[str, ...] = setting(
        "controller.listener.names",
        LIST,
        None,
        "The listeners that belong to the controller. They are not for clients and are not advertised.",
    )
    controller_quorum_voters: tuple[str, ...] = setting(
        "controller.quorum.voters",
        LIST,
        (),
        "The controllers that vote, as id@host:port. A node with the controller's role is one of them. Without it a "
        "controller votes alone, or is given a vote while the cluster runs.",
    )
    controller_quorum_bootstrap_servers: tuple[str, ...] = setting(
        "controller.quorum.bootstrap.servers",
        LIST,
        (),
        "Where the controllers are first asked for, as host:port, if controller.quorum.voters does not name"
        " them. A controller that is told of others follows them until it is given a vote.",
    )

    metrics_listener: str | None = setting(
        "metrics.listener",
        STRING,
        None,
        "Where Prometheus finds the metrics, as http://host:port (docs/metrics.md); nowhere if it is not given."
        " Andiron's own.",
    )

    # ── where its data lies ──
    log_dir: tuple[str, ...] = setting(
        "log.dir", LIST, ("/tmp/kafka-logs",), "The data directory, where log.dirs does not name any."
    )
    log_dirs: tuple[str, ...] | None = setting(
        "log.dirs", LIST, None, "The data directories. A new partition goes to the one with the fewest."
    )
    metadata_log_dir: str | None = setting(
        "metadata.log.dir",
        STRING,
        None,
        "The directory of the metadata log; the first of the data directories if none is named.",
    )

    # ── topics ──
    num_partitions: int = setting(
        "num.partitions", INT, 1, "Partitions of a topic that is created without saying how many.", least=1
    )
    default_replication_factor: int = setting(
        "default.replication.factor",
        INT,
        1,
        "Replicas of a topic that is created without saying how many.",
        least=1,
    )
    auto_create_topics_enable: bool = setting(
        "auto.create.topics.enable",
        BOOLEAN,
        True,
        "Whether a topic is created when a client that allows it first asks for it.",
    )
    delete_topic_enable: bool = setting(
        "delete.topic.enable", BOOLEAN, True, "Whether topics may be deleted."
    )

    # ── connections and requests ──
    socket_send_buffer_bytes: int = setting(
        "socket.send.buffer.bytes",
        INT,
        100 * KIB,
        "SO_SNDBUF of connections; -1 is the system's default.",
        least=-1,
    )
    socket_receive_buffer_bytes: int = setting(
        "socket.receive.buffer.bytes",
        INT,
        -1,
        "SO_RCVBUF of connections; -1 leaves it to the system, which lets it grow: large requests cost half.",
        least=-1,
    )
    socket_request_max_bytes: int = setting(
        "socket.request.max.bytes",
        INT,
        100 * MIB,
        "The largest request that is read; a larger one hangs up.",
        least=1,
    )
    queued_max_request_bytes: int = setting(
        "queued.max.request.bytes",
        LONG,
        -1,
        "Memory for large requests that arrive or wait for their answers; beyond it they are not read until others are"
        " done. -1: a quarter of the machine's memory, where Kafka has no limit.",
        least=-1,
    )
    num_network_threads: int = setting(
        "num.network.threads",
        INT,
        3,
        "Threads that receive and send for the node, when network.threads.busy.ratio says so. There are none on one"
        " core, or where Andiron was installed without a compiler.",
        least=1,
        reload="live",
    )
    network_threads_busy_ratio: float = setting(
        "network.threads.busy.ratio",
        DOUBLE,
        2.0,
        "How busy the loop is, as a part of its time, when it hands connections to the network threads, if there are"
        " many that ask or they fetch much at a time; 0.5 is what was measured. 0: threads have every connection from"
        " its beginning; more than 1: they never have any, the default until they have stood the rounds of faults."
        " Andiron's own.",
        least=0,
        reload="live",
    )
    socket_listen_backlog_size: int = setting(
        "socket.listen.backlog.size",
        INT,
        50,
        "Connections that may wait to be accepted, per listener.",
        least=1,
    )
    connections_max_idle_ms: int = setting(
        "connections.max.idle.ms",
        LONG,
        10 * MINUTE,
        "Hang up when nothing has been asked for this long; -1: never.",
    )
    max_connections: int = setting(
        "max.connections",
        INT,
        MAX_INT,
        "Connections at a time. A further one waits until one is given up; but those to a controllers' listener do not "
        "count, and for one to the listener of the brokers' own a client's is closed (KIP-402).",
        least=0,
        reload="live",
    )
    max_connections_per_ip: int = setting(
        "max.connections.per.ip",
        INT,
        MAX_INT,
        "Connections at a time from one address. A further one is closed.",
        least=0,
        reload="live",
    )
    fetch_max_bytes: int = setting(
        "fetch.max.bytes",
        INT,
        55 * MIB,
        "The most that one fetch returns, whatever it asks for.",
        least=1 * KIB,
    )
    max_incremental_fetch_session_cache_slots: int = setting(
        "max.incremental.fetch.session.cache.slots",
        INT,
        1000,
        "Fetch sessions that are remembered. A client without one names all its partitions in each fetch.",
        least=0,
    )

    telemetry_max_bytes: int = setting(
        "telemetry.max.bytes",
        INT,
        1 * MIB,
        "The most that a client may push of its metrics at once, packed or not.",
        least=1,
    )

    # ── upkeep of the logs ──
    log_retention_check_interval_ms: int = setting(
        "log.retention.check.interval.ms",
        LONG,
        5 * MINUTE,
        "How often logs are looked through for segments to delete.",
        least=1,
    )
    log_flush_scheduler_interval_ms: int = setting(
        "log.flush.scheduler.interval.ms",
        LONG,
        MAX_LONG,
        "How often logs are looked through for records that have waited flush.ms for the disk.",
        least=1,
    )
    log_flush_offset_checkpoint_interval_ms: int = setting(
        "log.flush.offset.checkpoint.interval.ms",
        INT,
        1 * MINUTE,
        "How often it is written down up to where each log is on the disk; recovery begins there.",
        least=0,
    )
    replica_high_watermark_checkpoint_interval_ms: int = setting(
        "replica.high.watermark.checkpoint.interval.ms",
        LONG,
        5 * SECOND,
        "How often it is written down up to where each log is committed; a leader that is started begins there.",
        least=0,
    )
    log_flush_start_offset_checkpoint_interval_ms: int = setting(
        "log.flush.start.offset.checkpoint.interval.ms",
        INT,
        1 * MINUTE,
        "How often it is written down where each log starts, so that deleted records stay deleted.",
        least=0,
    )
    log_cleaner_enable: bool = setting(
        "log.cleaner.enable", BOOLEAN, True, "Whether compacted topics are compacted."
    )
    log_cleaner_dedupe_buffer_size: int = setting(
        "log.cleaner.dedupe.buffer.size",
        LONG,
        128 * MIB,
        "Memory for the keys of one round of compaction; a log with more keys takes several rounds.",
        least=1 * MIB,
        reload="live",
    )
    log_cleaner_io_buffer_load_factor: float = setting(
        "log.cleaner.io.buffer.load.factor",
        DOUBLE,
        0.9,
        "How full that memory may become: more keys a round, and more of them that collide.",
        least=0.01,
        most=1,
        reload="live",
    )
    log_cleaner_io_max_bytes_per_second: float = setting(
        "log.cleaner.io.max.bytes.per.second",
        DOUBLE,
        MAX_DOUBLE,
        "What compaction may read and write together, on average.",
        least=1,
        reload="live",
    )
    log_cleaner_backoff_ms: int = setting(
        "log.cleaner.backoff.ms",
        LONG,
        15 * SECOND,
        "How long to wait before looking again when no log needs compaction, or one could not be compacted.",
        least=0,
        reload="live",
    )
    producer_id_expiration_ms: int = setting(
        "producer.id.expiration.ms",
        INT,
        1 * DAY,
        "How long a partition remembers the sequence numbers of a producer that has fallen silent.",
        least=1,
        reload="live",
    )

    leader_replication_throttled_rate: int = setting(
        "leader.replication.throttled.rate",
        LONG,
        MAX_LONG,
        "Bytes a second for all replicas together that leader.replication.throttled.replicas of a topic names.",
        least=0,
        reload="live",
    )
    follower_replication_throttled_rate: int = setting(
        "follower.replication.throttled.rate",
        LONG,
        MAX_LONG,
        "Bytes a second for all replicas together that follower.replication.throttled.replicas of a topic names.",
        least=0,
        reload="live",
    )
    replica_alter_log_dirs_io_max_bytes_per_second: int = setting(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        LONG,
        MAX_LONG,
        "Bytes a second for all replicas together that move from one of log.dirs to another.",
        least=0,
        reload="live",
    )
    transaction_partition_verification_enable: bool = setting(
        "transaction.partition.verification.enable",
        BOOLEAN,
        True,
        "Whether a partition asks the coordinator before it takes the first batch of a transaction.",
        reload="live",
    )


TOPIC_ROWS = rows(LogSettings)
GROUP_ROWS = rows(GroupConfigs)
BROKER_ROWS = {
    **inert_rows(),
    **broker_rows(LogSettings),
    **rows(BrokerSettings),
    **rows(QuorumSettings),
    **rows(MetadataLogSettings),
    **rows(MembershipSettings),
    **rows(ReplicationSettings),
    **rows(GroupSettings),
    **rows(TransactionSettings),
}
