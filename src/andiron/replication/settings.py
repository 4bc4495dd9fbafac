"""The settings of replication between brokers, under Kafka's own names."""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import INT, LONG, MIB, SECOND, STRING, setting


@dataclass(frozen=True, slots=True)
class ReplicationSettings:
    """How followers fetch, and when a replica counts as in sync."""

    replica_lag_time_max_ms: int = setting(
        "replica.lag.time.max.ms",
        LONG,
        30 * SECOND,
        "A follower that has not caught up with its leader for this long leaves the in-sync replicas.",
        least=1,
    )
    replica_fetch_wait_max_ms: int = setting(
        "replica.fetch.wait.max.ms",
        INT,
        500,
        "How long a follower's fetch waits for something new. It must stay below replica.lag.time.max.ms.",
        least=0,
    )
    replica_fetch_min_bytes: int = setting(
        "replica.fetch.min.bytes",
        INT,
        1,
        "How much must be there for a follower's fetch to be answered.",
        least=0,
    )
    replica_fetch_max_bytes: int = setting(
        "replica.fetch.max.bytes",
        INT,
        1 * MIB,
        "The most of one partition that a follower fetches at once; a larger batch comes whole.",
        least=0,
    )
    replica_fetch_response_max_bytes: int = setting(
        "replica.fetch.response.max.bytes",
        INT,
        10 * MIB,
        "The most that one fetch of a follower returns.",
        least=0,
    )
    replica_fetch_backoff_ms: int = setting(
        "replica.fetch.backoff.ms",
        INT,
        1 * SECOND,
        "How long a partition is left out of a follower's fetches after an error.",
        least=0,
    )
    replica_socket_timeout_ms: int = setting(
        "replica.socket.timeout.ms",
        INT,
        30 * SECOND,
        "How long a follower waits for an answer of its leader. It must be above replica.fetch.wait.max.ms.",
        least=1,
    )
    replica_selector_class: str | None = setting(
        "replica.selector.class",
        STRING,
        None,
        "How a replica is chosen for a consumer that says where it is: RackAwareReplicaSelector, by its full name in "
        "Kafka, sends it to its own rack; none: to the leader.",
    )
