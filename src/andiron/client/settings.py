"""The settings of a client, under Kafka's own names.

Three tables: what every client has, and what producers and readers have beside it. Defaults are Kafka's
where nothing is said to the contrary. A setting that nothing honours has no row.
"""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import (
    BOOLEAN,
    INT,
    KIB,
    LONG,
    MAX_INT,
    MIB,
    MINUTE,
    SECOND,
    STRING,
    setting,
)
from andiron.records.compression import NAMES


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How a client reaches the cluster, and how long it tries."""

    client_id: str = setting("client.id", STRING, "andiron", "The name by which brokers know this client.")
    socket_connection_setup_timeout_ms: int = setting(
        "socket.connection.setup.timeout.ms",
        INT,
        10 * SECOND,
        "How long a broker may take to accept a connection.",
        least=1,
    )
    request_timeout_ms: int = setting(
        "request.timeout.ms",
        INT,
        30 * SECOND,
        "How long a broker may take to answer; then the connection counts as lost.",
        least=1,
    )
    default_api_timeout_ms: int = setting(
        "default.api.timeout.ms",
        INT,
        1 * MINUTE,
        "How long a call tries again what failed for a passing reason.",
        least=0,
    )
    retry_backoff_ms: int = setting(
        "retry.backoff.ms", INT, 100, "The pause before the first new attempt; it doubles each time.", least=0
    )
    retry_backoff_max_ms: int = setting(
        "retry.backoff.max.ms", INT, 1 * SECOND, "The longest pause between two attempts.", least=0
    )


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """How records are gathered, packed and acknowledged; acks=all and idempotence are the defaults (KIP-679)."""

    acks: str = setting(
        "acks",
        STRING,
        "all",
        "When a record counts as written: 0 when it is sent, 1 when the leader has it, all when every "
        "replica in sync has it.",
        choices=("0", "1", "all", "-1"),
    )
    enable_idempotence: bool = setting(
        "enable.idempotence",
        BOOLEAN,
        True,
        "Number the records so that the broker drops what a retry sends twice. Counts with acks=all only.",
    )
    batch_size: int = setting(
        "batch.size",
        INT,
        128 * KIB,
        "Bytes of records, before compression, that are sent as one batch. Kafka's default is 16384; a "
        "blocking producer has no thread that sends meanwhile, and gains by larger ones.",
        least=1,
    )
    buffer_memory: int = setting(
        "buffer.memory",
        LONG,
        32 * MIB,
        "Bytes of records that wait to be sent; beyond it they leave in batches as small as they are.",
        least=0,
    )
    max_request_size: int = setting(
        "max.request.size", INT, 1 * MIB, "The most bytes of batches in one request.", least=1
    )
    max_in_flight_requests_per_connection: int = setting(
        "max.in.flight.requests.per.connection",
        INT,
        5,
        "Requests sent to a broker before the first is answered. Without idempotence one alone is sent, so "
        "that a retry never overtakes.",
        least=1,
        most=5,
    )
    compression_type: str = setting(
        "compression.type", STRING, "none", "What batches are packed with.", choices=NAMES
    )
    delivery_timeout_ms: int = setting(
        "delivery.timeout.ms",
        INT,
        2 * MINUTE,
        "How long a batch is sent again after failures that pass.",
        least=0,
    )

    @property
    def acks_number(self) -> int:
        """As it stands in a request."""
        return -1 if self.acks == "all" else int(self.acks)

    @property
    def idempotent(self) -> bool:
        return self.enable_idempotence and self.acks_number == -1


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How much is fetched at a time, and how long a fetch waits."""

    fetch_max_bytes: int = setting(
        "fetch.max.bytes",
        INT,
        50 * MIB,
        "The most bytes in one answer; a larger batch comes all the same.",
        least=0,
    )
    max_partition_fetch_bytes: int = setting(
        "max.partition.fetch.bytes", INT, 1 * MIB, "The most bytes of one partition in an answer.", least=0
    )
    fetch_min_bytes: int = setting(
        "fetch.min.bytes",
        INT,
        1,
        "A broker waits until it has this many bytes to send.",
        least=0,
        most=MAX_INT,
    )
    fetch_max_wait_ms: int = setting(
        "fetch.max.wait.ms", INT, 500, "The longest a broker waits for them.", least=0
    )
    check_crcs: bool = setting("check.crcs", BOOLEAN, True, "Check the checksum of every batch that is read.")
