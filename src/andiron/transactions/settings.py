"""The settings of the transaction coordinator, under Kafka's own names."""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import BOOLEAN, DAY, HOUR, INT, MIB, MINUTE, SECOND, SHORT, setting


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """How transactions are kept, and how long they may take."""

    # ── the topic they are kept in ──
    transaction_state_log_num_partitions: int = setting(
        "transaction.state.log.num.partitions",
        INT,
        50,
        "Partitions of __transaction_state. It must not change once the topic is there.",
        least=1,
        most=10_000,
    )
    transaction_state_log_replication_factor: int = setting(
        "transaction.state.log.replication.factor",
        SHORT,
        3,
        "Replicas of __transaction_state. The topic is made when there are that many brokers.",
        least=1,
    )
    transaction_state_log_min_isr: int = setting(
        "transaction.state.log.min.isr",
        INT,
        2,
        "min.insync.replicas of __transaction_state.",
        least=1,
    )
    transaction_state_log_segment_bytes: int = setting(
        "transaction.state.log.segment.bytes",
        INT,
        100 * MIB,
        "Segments of __transaction_state: smaller ones are compacted sooner and load faster.",
        least=1 * MIB,
    )

    # ── transactions ──
    transaction_max_timeout_ms: int = setting(
        "transaction.max.timeout.ms",
        INT,
        15 * MINUTE,
        "The longest timeout that a producer may ask for. Readers of committed records may wait as long.",
        least=1,
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        INT,
        10 * SECOND,
        "How often transactions are looked through for those to be aborted because their time is up.",
        least=1,
    )
    transactional_id_expiration_ms: int = setting(
        "transactional.id.expiration.ms",
        INT,
        7 * DAY,
        "How long a transactional id is remembered that is not used.",
        least=1,
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = setting(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        INT,
        HOUR,
        "How often transactional ids are looked through for those to be forgotten.",
        least=1,
    )
    transaction_two_phase_commit_enable: bool = setting(
        "transaction.two.phase.commit.enable",
        BOOLEAN,
        False,
        "Whether a producer may prepare a transaction that waits, without limit, for a decision from elsewhere.",
    )
