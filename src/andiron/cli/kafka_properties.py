"""The `server.properties` with which Kafka opens a node's folder, and what it would do differently there.

    what the node was started with ─┐
                                    ├─▶ settings, then remarks as comments
    what its metadata says ─────────┘

Where no file says with what the node was started, its metadata says where it listened, and for the rest it is taken for
a node of a plain `andiron up`. Settings have the same names and the same meaning on both sides, so most pass through;
what does not is told in a remark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from andiron.broker.metadata.offline_metadata import OfflineMetadata
from andiron.broker.settings.listeners import Listener, bracketed
from andiron.broker.settings.node_settings import NodeSettings
from andiron.cli.failure import Failure
from andiron.cli.local_cluster.layout import escaped
from andiron.cli.up import node_by_itself
from andiron.model.ids import NodeId
from andiron.quorum.voter_set import VoterSet

VOTERS, BOOTSTRAP = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
PROTOCOLS, INTER_BROKER = "listener.security.protocol.map", "inter.broker.listener.name"
TWO_PHASE, UNSTABLE = "transaction.two.phase.commit.enable", "unstable.api.versions.enable"
OURS = ("metrics.listener",)  # settings that Kafka does not have
# Topics whose partitions a coordinator counts, the setting by which Kafka would make them, and its default.
COUNTED = {
    "__consumer_offsets": ("offsets.topic.num.partitions", 50),
    "__transaction_state": ("transaction.state.log.num.partitions", 50),
}


class KafkaProperties(NamedTuple):
    """A server.properties for Kafka, and remarks on what Kafka does differently."""

    settings: dict[str, str]
    remarks: list[str]

    def render(self, head: Sequence[str]) -> str:
        """A server.properties, as Kafka reads it."""
        comments = [f"# {line}" for line in head]
        lines = [f"{name}={escaped(value)}" for name, value in self.settings.items()]
        remarks = [
            "# What Kafka does differently with this folder:",
            *(f"# - {each}" for each in self.remarks),
        ]
        return "\n".join((*comments, "", *lines, "", *remarks, ""))


def for_kafka(
    node_id: int,
    log_dirs: Sequence[str],
    stored: OfflineMetadata,
    given: Mapping[str, str] | None,
    chosen: Mapping[str, str],
) -> KafkaProperties:
    """The settings for Kafka of a node that was started with `given`, or None: as its metadata has it; and with what
    was `chosen` by hand."""
    base = dict(given) if given is not None else _as_stored(NodeId(node_id), stored)
    base |= {**chosen, "log.dirs": ",".join(log_dirs)}
    loaded = NodeSettings.load(base)
    if loaded.node_id != node_id:
        raise Failure(
            f"{log_dirs[0]} is the folder of node {node_id}, and the settings are those of {loaded.node_id}"
        )
    settings = {name: text for name, text in base.items() if name not in (*OURS, VOTERS, BOOTSTRAP)}
    settings |= _quorum(loaded, stored.voters)
    settings.setdefault("controller.listener.names", ",".join(loaded.controller_listeners))
    names = dict.fromkeys([*(each.name for each in loaded.listeners), *loaded.controller_listeners])
    settings.setdefault(PROTOCOLS, ",".join(f"{name}:PLAINTEXT" for name in names))
    if loaded.inter_broker_listener not in ("", "PLAINTEXT"):
        settings.setdefault(INTER_BROKER, loaded.inter_broker_listener)
    for topic, (setting, default) in COUNTED.items():
        if topic in stored.image.topics and len(stored.image.topics[topic].partitions) != default:
            settings[setting] = str(len(stored.image.topics[topic].partitions))
    if loaded.transactions.transaction_two_phase_commit_enable:
        settings[UNSTABLE] = "true"
    return KafkaProperties(settings, _remarks(base, loaded, stored))


def _as_stored(node_id: NodeId, stored: OfflineMetadata) -> dict[str, str]:
    """The settings of a node by its registration in the metadata log."""
    broker, controller = stored.image.brokers.get(node_id), stored.image.controllers.get(node_id)
    if broker is None and controller is None:
        raise Failure(
            f"no node {node_id} has registered in this folder yet, so nobody knows where it listens; start it with "
            "`andiron up` once, or name its settings with --config"
        )
    for_clients = [] if broker is None else [Listener(name, *at) for name, at in broker.endpoints.items()]
    inner = [] if controller is None else [Listener(*each[:3]) for each in controller.endpoints]
    settings = node_by_itself("localhost", 0)
    settings |= {
        "node.id": str(node_id),
        "process.roles": ",".join(["broker"] * bool(for_clients) + ["controller"] * bool(inner)),
        "listeners": ",".join(map(str, for_clients + inner)),
        "controller.listener.names": ",".join(each.name for each in inner) or "CONTROLLER",
    }
    if not inner and stored.voters is not None:
        settings[BOOTSTRAP] = _places(stored.voters)
    elif len(stored.image.controllers) > 1 and stored.voters is None:
        settings[VOTERS] = ",".join(
            f"{each.id}@{bracketed(each.endpoints[0][1])}:{each.endpoints[0][2]}"
            for each in stored.image.controllers.values()
        )
    return settings


def _quorum(loaded: NodeSettings, voters: VoterSet | None) -> dict[str, str]:
    """controller.quorum.bootstrap.servers where the metadata log names the voters; else controller.quorum.voters."""
    if voters is not None:
        return {BOOTSTRAP: _places(voters)}
    named = [f"{each.node_id}@{bracketed(each.host)}:{each.port}" for each in loaded.voters.values()]
    return {VOTERS: ",".join(named)}


def _places(voters: VoterSet) -> str:
    known = [each.address for each in voters if each.address is not None]
    return ",".join(f"{bracketed(each.host)}:{each.port}" for each in known)


def _remarks(base: Mapping[str, str], loaded: NodeSettings, stored: OfflineMetadata) -> list[str]:
    remarks = [
        "Its defaults hold for what is not named above; what was given to `andiron up` by --set is not in the folder: "
        "say it here as well (--set, --config).",
        "What DeleteRecords removed it writes down once a minute: a kill -9 within that brings records back.",
        "A broker that dies is noticed when its session runs out (broker.session.timeout.ms), not when its "
        "connections break; and it waits as long before it takes a folder over whose node was killed.",
    ]
    if stored.voters is None:
        remarks.append(
            "The voters are in these settings and not in the metadata (kraft.version 0), so the settings it comes with "
            "(controller.quorum.bootstrap.servers) do not do: `andiron cluster upgrade` changes that."
        )
    if "share.version" not in stored.image.features:
        remarks.append(
            "Share and streams groups are off, as share.version and streams.version are 0: `kafka-features.sh "
            "upgrade` turns them on; Andiron keeps what they write, and does not serve them."
        )
    if loaded.transactions.transaction_two_phase_commit_enable:
        remarks.append(
            f"Two-phase commit needs {UNSTABLE}, which lets every client use what is not finished yet; without "
            "it, prepared transactions stay as they are until somebody who may ends them."
        )
    remarks += [
        f"{name} is Andiron's own, and left out: Kafka's metrics come by JMX."
        for name in OURS
        if name in base
    ]
    remarks += [f"Takes effect there: {notice.removeprefix('without effect: ')}" for notice in loaded.notices]
    return remarks
