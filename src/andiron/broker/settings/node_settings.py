"""All that a node is told before it starts: `server.properties`, read, checked and made sense of.

    given ──▶ rows (type, bounds) ──▶ together (listeners, roles, voters, directories) ──▶ NodeSettings

Settings that are right one by one may still contradict each other; what is found here stops the node before
it has touched a file, with one line that names the setting and says what to do.

Read next: broker_settings.py for the table, listeners.py for addresses, inert_settings.py for what has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from andiron.broker.settings.broker_settings import BROKER_ROWS, GROUP_ROWS, TOPIC_ROWS, BrokerSettings
from andiron.broker.settings.listeners import (
    EVERYWHERE,
    Listener,
    Voter,
    check_ports,
    parse_http,
    parse_listeners,
    parse_names,
    parse_protocols,
    parse_servers,
    parse_voters,
)
from andiron.broker.settings.setting_notices import notices, unknown, why_refused, why_without_effect
from andiron.broker.telemetry.client_metrics import CLIENT_METRICS_ROWS
from andiron.controller.settings import ControllerSettings, MembershipSettings
from andiron.groups.settings import GroupSettings
from andiron.log.settings import LogSettings
from andiron.model.ids import Address, NodeId
from andiron.model.layers import Layers
from andiron.model.settings import SettingError, parse_values, rows
from andiron.quorum.settings import MetadataLogSettings, QuorumSettings
from andiron.replication.settings import ReplicationSettings
from andiron.transactions.settings import TransactionSettings

CONTROLLER = "CONTROLLER"
_LIVE_ROWS = {name: row for name, row in rows(BrokerSettings).items() if row.reload == "live"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """What one node is told."""

    node_id: int
    roles: tuple[str, ...]
    listeners: list[Listener]
    advertised: list[Listener]  # of the broker's listeners, in the order of `listeners`
    controller_listeners: tuple[str, ...]
    controller_endpoints: list[Listener]  # where others reach the controller, if it is one
    inter_broker_listener: str
    metrics_listener: Listener | None  # where metrics are served
    log_dirs: tuple[str, ...]
    metadata_log_dir: str
    voters: dict[int, Voter]
    bootstrap_controllers: tuple[Address, ...]  # where the leader is asked for, besides the voters
    broker: BrokerSettings
    quorum: QuorumSettings
    metadata_log: MetadataLogSettings
    membership: MembershipSettings
    replication: ReplicationSettings
    groups: GroupSettings
    transactions: TransactionSettings
    log_defaults: LogSettings
    given: dict[str, str]
    notices: list[str]

    @property
    def is_alone(self) -> bool:
        """Whether it is a controller, and no other node is named that has the cluster's metadata."""
        return set(self.voters) == {self.node_id}

    @classmethod
    def load(cls, given: Mapping[str, str], hostname: str = "localhost") -> NodeSettings:
        """Read what was given; `hostname` is advertised for a listener that names no host."""
        known = _known(given)
        broker = _table(BrokerSettings, known)
        _check_identity(broker)
        listeners = parse_listeners("listeners", broker.listeners)
        metrics = parse_http("metrics.listener", broker.metrics_listener)
        check_ports([*listeners, *([metrics] if metrics else [])])
        controllers = _controller_listeners(broker, listeners)
        _check_protocols(broker, listeners, controllers, "listener.security.protocol.map" in known)
        for_clients = [each for each in listeners if each.name not in controllers]
        _check_roles(broker, for_clients, controllers)
        log_dirs = _log_dirs(broker)
        log_defaults = LogSettings(**Layers(BROKER_ROWS, known).topic_defaults(TOPIC_ROWS))
        log_defaults.check()
        return cls(
            node_id=broker.node_id,
            roles=broker.process_roles,
            listeners=listeners,
            advertised=_advertised(broker, listeners, for_clients, hostname),
            controller_listeners=controllers,
            controller_endpoints=_controller_endpoints(broker, listeners, controllers, hostname),
            inter_broker_listener=_inter_broker_listener(broker, for_clients) if for_clients else "",
            metrics_listener=metrics,
            log_dirs=log_dirs,
            metadata_log_dir=_directory(broker.metadata_log_dir or log_dirs[0]),
            voters=_voters(broker, listeners, controllers, hostname),
            bootstrap_controllers=_bootstrap(broker),
            broker=broker,
            quorum=_table(QuorumSettings, known),
            metadata_log=_table(MetadataLogSettings, known),
            membership=_table(MembershipSettings, known),
            replication=_table(ReplicationSettings, known),
            groups=_table(GroupSettings, known),
            transactions=_table(TransactionSettings, known),
            log_defaults=log_defaults,
            given=known,
            notices=notices(given, BROKER_ROWS),
        )

    def for_controller(self, cluster_id: str = "") -> ControllerSettings:
        """What the controller needs to know of all this."""
        membership = self.membership
        return ControllerSettings(
            node_id=NodeId(self.node_id),
            num_partitions=self.broker.num_partitions,
            default_replication_factor=self.broker.default_replication_factor,
            delete_topic_enable=self.broker.delete_topic_enable,
            topic_table=LogSettings,
            topic_rows=TOPIC_ROWS,
            group_rows=GROUP_ROWS,
            client_metrics_rows=CLIENT_METRICS_ROWS,
            broker_rows=BROKER_ROWS,
            static=self.given,
            cluster_id=cluster_id,
            broker_session_timeout_ms=membership.broker_session_timeout_ms,
            auto_leader_rebalance_enable=membership.auto_leader_rebalance_enable,
            leader_imbalance_check_interval_seconds=membership.leader_imbalance_check_interval_seconds,
        )

    def layers(self, dynamic_default: Mapping[str, str], dynamic: Mapping[str, str]) -> Layers:
        """Where this broker's settings come from, given what was set at run time: on all, and on this one."""
        return Layers(BROKER_ROWS, self.given, dynamic_default, dynamic)


def topic_settings(
    overrides: Mapping[str, str],
    dynamic: Mapping[str, str],
    dynamic_default: Mapping[str, str],
    node: NodeSettings,
) -> LogSettings:
    """What holds for a topic with these settings of its own. Names that have no row here are left alone."""
    defaults = node.log_defaults
    if dynamic or dynamic_default:
        defaults = LogSettings(**node.layers(dynamic_default, dynamic).topic_defaults(TOPIC_ROWS))
    own = parse_values(TOPIC_ROWS, {name: text for name, text in overrides.items() if name in TOPIC_ROWS})
    return replace(defaults, **own) if own else defaults


def broker_settings(
    dynamic: Mapping[str, str], dynamic_default: Mapping[str, str], node: NodeSettings
) -> BrokerSettings:
    """What holds for a broker, given what was set while it ran."""
    layers = node.layers(dynamic_default, dynamic)
    live: dict[str, Any] = {row.attribute: layers.value(name) for name, row in _LIVE_ROWS.items()}
    return replace(node.broker, **live)


def _table(table: type[T], known: Mapping[str, str]) -> T:
    """One of the tables, with the values that were given."""
    own = rows(table)
    return table(**parse_values(own, {name: text for name, text in known.items() if name in own}))


# ── one complaint each ───────────────────────────────────────────────────────────────


def _known(given: Mapping[str, str]) -> dict[str, str]:
    """The settings that have rows; a complaint about those that nobody knows or that must not be given."""
    for name in given:
        if (why := why_refused(name)) and given[name].strip():
            raise SettingError(name, f"not supported: {why}")
        if name not in BROKER_ROWS and not why and not why_without_effect(name):
            raise unknown(name, BROKER_ROWS)
    known = {name: text for name, text in given.items() if name in BROKER_ROWS}
    for name, other in (("node.id", "broker.id"), ("broker.id", "node.id")):
        if name not in known and other in known:
            known[name] = known[other]
    for name, text in known.items():
        BROKER_ROWS[name].parse(text)
    return known


def _check_identity(broker: BrokerSettings) -> None:
    if broker.node_id is None:
        raise SettingError("node.id", "not given; give each node a number of its own, such as node.id=1")
    if broker.broker_id != broker.node_id:
        raise SettingError(
            "broker.id", f"{broker.broker_id} is not node.id, {broker.node_id}; give one of the two"
        )
    if not broker.process_roles:
        raise SettingError("process.roles", "not given; a node by itself is process.roles=broker,controller")


def _controller_listeners(broker: BrokerSettings, listeners: list[Listener]) -> tuple[str, ...]:
    named = tuple(name.upper() for name in broker.controller_listener_names or ())
    open_names = [each.name for each in listeners]
    if not named and (CONTROLLER in open_names or "controller" not in broker.process_roles):
        return (CONTROLLER,)
    if not named:
        complaint = "not given, and no listener is called CONTROLLER; name the one that is the controller's"
        raise SettingError("controller.listener.names", complaint)
    for name in named if "controller" in broker.process_roles else ():
        if name not in open_names:
            complaint = (
                f"{name} is not among listeners ({', '.join(open_names)}); add {name}://host:port there"
            )
            raise SettingError("controller.listener.names", complaint)
    return named


def _check_roles(broker: BrokerSettings, for_clients: list[Listener], controllers: tuple[str, ...]) -> None:
    if "broker" not in broker.process_roles and for_clients:
        complaint = f"{for_clients[0].name} is for clients, and a controller alone serves none; leave it out"
        raise SettingError("listeners", complaint)
    if "broker" in broker.process_roles and not for_clients:
        raise SettingError("listeners", "all of them are the controller's; add one for clients")
    if "controller" not in broker.process_roles:
        own = [name for name in parse_names(broker.listeners) if name in controllers]
        if own:
            complaint = f"{own[0]} is the controller's, and by process.roles this node is a broker alone; leave it out"
            raise SettingError("listeners", complaint)


def _check_protocols(
    broker: BrokerSettings, listeners: list[Listener], controllers: tuple[str, ...], mapped: bool
) -> None:
    setting = "listener.security.protocol.map"
    protocols = parse_protocols(setting, broker.listener_security_protocol_map)
    for listener in listeners:
        # As in Kafka: a controller's listener is PLAINTEXT where nobody gave a map.
        default = None if mapped or listener.name not in controllers else "PLAINTEXT"
        protocol = protocols.get(listener.name, default)
        if protocol is None:
            raise SettingError(
                setting, f"no protocol for listener {listener.name}; add {listener.name}:PLAINTEXT"
            )
        if protocol != "PLAINTEXT":
            raise SettingError(
                setting, f"{listener.name} is {protocol}, which is not served yet; PLAINTEXT is"
            )


def _advertised(
    broker: BrokerSettings, listeners: list[Listener], for_clients: list[Listener], hostname: str
) -> list[Listener]:
    setting = "advertised.listeners"
    told = {each.name: each for each in parse_listeners(setting, broker.advertised_listeners or ())}
    for name in told:
        if name not in [each.name for each in listeners]:
            raise SettingError(setting, f"{name} is not among listeners; add it there, or leave it out here")
    advertised = []
    for listener in for_clients:
        if told and listener.name not in told:
            continue
        shown = told.get(listener.name, listener)
        if shown.host in EVERYWHERE:
            complaint = f"nobody can connect to {shown.host}; set {setting}={shown.name}://name-of-this-machine:{shown.port}"
            raise SettingError(setting if told else "listeners", complaint)
        advertised.append(shown._replace(host=shown.host or hostname))
    if not advertised and for_clients:
        raise SettingError(
            setting, "there is none for clients; add one of the listeners that are not the controller's"
        )
    return advertised


def _inter_broker_listener(broker: BrokerSettings, for_clients: list[Listener]) -> str:
    names = [each.name for each in for_clients]
    if broker.inter_broker_listener_name is None:
        return "PLAINTEXT" if "PLAINTEXT" in names else names[0]
    wanted = broker.inter_broker_listener_name.upper()
    if wanted not in names:
        complaint = f"{wanted} is not among the broker's listeners ({', '.join(names)})"
        raise SettingError("inter.broker.listener.name", complaint)
    return wanted


def _controller_endpoints(
    broker: BrokerSettings, listeners: list[Listener], controllers: tuple[str, ...], hostname: str
) -> list[Listener]:
    """As advertised, or where it listens; who listens everywhere is found by the name of the machine."""
    told = {
        each.name: each for each in parse_listeners("advertised.listeners", broker.advertised_listeners or ())
    }
    found = [told.get(each.name, each) for each in listeners if each.name in controllers]
    return [each._replace(host=hostname if each.host in ("", *EVERYWHERE) else each.host) for each in found]


def _voters(
    broker: BrokerSettings, listeners: list[Listener], controllers: tuple[str, ...], hostname: str
) -> dict[int, Voter]:
    setting, me, votes = "controller.quorum.voters", broker.node_id, "controller" in broker.process_roles
    voters = parse_voters(setting, broker.controller_quorum_voters)
    if not voters and not votes:
        if not broker.controller_quorum_bootstrap_servers:
            complaint = "not given; a broker alone must know where its controllers are: id@host:port,…"
            raise SettingError(setting, complaint)
        return {}
    if not voters:
        own = next(each for each in listeners if each.name == controllers[0])
        first = Voter(me, own.host or hostname, own.port)
        return {me: first} if all(_is_here(each, first) for each in _bootstrap(broker)) else {}
    if votes and me not in voters:
        complaint = (
            f"node {me} is a controller and not among the voters; add {me}@host:port, or correct node.id"
        )
        raise SettingError(setting, complaint)
    if not votes and me in voters:
        raise SettingError(setting, f"node {me} is a voter, so process.roles must have controller")
    return voters


def _is_here(server: Address, own: Voter) -> bool:
    """Whether a controller that is to be asked for the leader is this very node."""
    return server.port == own.port and server.host in (own.host, "localhost", "127.0.0.1", "::1")


def _bootstrap(broker: BrokerSettings) -> tuple[Address, ...]:
    setting = "controller.quorum.bootstrap.servers"
    return tuple(
        Address(*each) for each in parse_servers(setting, broker.controller_quorum_bootstrap_servers)
    )


def _log_dirs(broker: BrokerSettings) -> tuple[str, ...]:
    given = broker.log_dir if broker.log_dirs is None else broker.log_dirs
    directories = tuple(_directory(path) for path in given)
    if not directories:
        raise SettingError("log.dirs", "empty; name at least one directory")
    if len(dict.fromkeys(directories)) < len(directories):
        raise SettingError("log.dirs", "a directory is there twice; name each once")
    return directories


def _directory(path: str) -> str:
    return path.rstrip("/") or "/"
