"""How brokers keep their place in the cluster, and leaders theirs: settings under Kafka's own names."""

from __future__ import annotations

from dataclasses import dataclass

from andiron.model.settings import BOOLEAN, INT, LONG, MINUTE, SECOND, setting


@dataclass(frozen=True, slots=True)
class MembershipSettings:
    """When a broker counts as alive, and who should lead."""

    broker_heartbeat_interval_ms: int = setting(
        "broker.heartbeat.interval.ms",
        INT,
        2 * SECOND,
        "How often a broker tells the controller that it is alive.",
        least=1,
    )
    broker_session_timeout_ms: int = setting(
        "broker.session.timeout.ms",
        INT,
        9 * SECOND,
        "A broker that has said nothing for this long is fenced: others lead what it led.",
        least=1,
    )
    initial_broker_registration_timeout_ms: int = setting(
        "initial.broker.registration.timeout.ms",
        INT,
        1 * MINUTE,
        "How long a broker that starts tries to get into its cluster before it gives up.",
        least=1,
    )
    controlled_shutdown_enable: bool = setting(
        "controlled.shutdown.enable",
        BOOLEAN,
        True,
        "Whether a broker that is told to stop hands over what it leads first.",
    )
    auto_leader_rebalance_enable: bool = setting(
        "auto.leader.rebalance.enable",
        BOOLEAN,
        True,
        "Whether leadership goes back to the first replica of a partition by itself.",
    )
    leader_imbalance_check_interval_seconds: int = setting(
        "leader.imbalance.check.interval.seconds",
        LONG,
        300,
        "How often it is looked for partitions that their first replica should lead.",
        least=1,
    )
