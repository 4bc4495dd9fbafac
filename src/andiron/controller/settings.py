"""The controller's settings: how brokers keep their place in the cluster, and what settings of others are checked by.

The tables by which settings of topics, groups and brokers are checked belong to other packages (a topic's is the
log's, a broker's the broker's), so they are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from andiron.controller.image import BROKER, TOPIC, Image
from andiron.model.ids import NodeId
from andiron.model.layers import Layers
from andiron.model.settings import (
    BOOLEAN,
    INT,
    LONG,
    MINUTE,
    SECOND,
    Row,
    SettingError,
    parse_values,
    setting,
)

MIN_INSYNC = "min.insync.replicas"


class TopicTable(Protocol):
    """A topic's settings with their values."""

    def __init__(self, **values: Any) -> None: ...

    def check(self) -> None:
        """Complain about settings that cannot stand together."""


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """What one controller goes by: defaults of new topics, and the tables of settings that it checks."""

    node_id: NodeId
    num_partitions: int
    default_replication_factor: int
    delete_topic_enable: bool
    topic_table: type[TopicTable]
    topic_rows: Mapping[str, Row]
    group_rows: Mapping[str, Row]
    client_metrics_rows: Mapping[str, Row]
    broker_rows: Mapping[str, Row]
    static: Mapping[str, str]  # as given in server.properties
    cluster_id: str = ""  # "": brokers of any cluster are taken in
    broker_session_timeout_ms: int = 9_000
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_seconds: int = 300
    leader_imbalance_per_broker_percentage: int = 10

    def layers(self, image: Image) -> Layers:
        """Where topics get their defaults from."""
        everywhere, here = image.configs_of(BROKER, ""), image.configs_of(BROKER, str(self.node_id))
        return Layers(self.broker_rows, self.static, everywhere, here)

    def of_topic(self, setting: str, topic: str, image: Image) -> Any:
        """What a setting of a topic is: its own value, else what brokers give to topics without one."""
        row, own = self.topic_rows[setting], image.configs_of(TOPIC, topic)
        return row.parse(own[setting]) if setting in own else self.layers(image).topic_value(row)

    def check_topic(self, overrides: Mapping[str, str], image: Image) -> None:
        """Complain (SettingError) unless a topic may have these settings of its own."""
        if overrides:
            own = parse_values(self.topic_rows, overrides)
            self.topic_table(**{**self.layers(image).topic_defaults(self.topic_rows), **own}).check()

    def check_group(self, wanted: Mapping[str, str], image: Image) -> None:
        """Complain (SettingError) unless a group may have these settings of its own: brokers draw the bounds."""
        layers = self.layers(image)
        values = {row.name: layers.topic_value(row) for row in self.group_rows.values()}
        for name, text in wanted.items():
            values[name] = value = self.group_rows[name].parse(text)
            kind, _, what = name.partition(".")
            least, most = f"group.{kind}.min.{what}", f"group.{kind}.max.{what}"
            if least in layers.table and not layers.value(least) <= value <= layers.value(most):
                raise SettingError(name, f"{value} is not within {least} and {most}")
        for kind in ("consumer", "share", "streams"):
            session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
            if values[session] <= values[heartbeat]:
                raise SettingError(session, f"it must be longer than {heartbeat}, {values[heartbeat]}")


@dataclass(frozen=True, slots=True)
class MembershipSettings:
    """When a broker counts as alive, and who should lead: settings under Kafka's own names."""

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
