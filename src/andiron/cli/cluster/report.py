"""`andiron cluster describe`: the brokers, and partitions that are under-replicated, under their minimum or offline.

    brokers      STATE alive or fenced; what each leads, holds, and holds in sync
    partitions   only those of which something is wrong, worst first

Settings are asked only of topics that have a replica out of sync: no other can be under its minimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from andiron.cli.output import columns, plural
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.cluster_descriptions import (
    BrokerState,
    ClusterState,
    Health,
    health_of,
    share_of,
)
from andiron.client.core.descriptions import Resource, ResourceType
from andiron.client.core.metadata import NO_LEADER, Partition, Topic
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition

MIN_ISR = "min.insync.replicas"
ROWS_SHOWN = 20
BROKERS = ("BROKER", "ADDRESS", "RACK", "STATE", "LEADS", "REPLICAS", "IN SYNC")
NO_CONTROLLER = (
    "this is what was last known: it is kept up to date while more than half of the controllers run"
)
UNWELL = ("TOPIC", "PARTITION", "LEADER", "REPLICAS", "ISR", "WHAT IS WRONG")


class ClusterReport(NamedTuple):
    """Brokers, topics and min.insync.replicas; the controller is the quorum's leader, None while there is none."""

    cluster: ClusterState
    controller: int | None
    partitions: dict[TopicPartition, Partition]
    health: dict[TopicPartition, Health]

    @classmethod
    def gather(cls, cluster: ClusterAdmin, topics: Admin) -> ClusterReport:
        """Ask the cluster for all that the report shows."""
        state = cluster.describe_cluster()
        found = cluster.topics()
        minimums = _minimums(topics, found)
        partitions = {
            TopicPartition(topic.name, each.number): each for topic in found for each in topic.partitions
        }
        health = {name: health_of(each, minimums.get(name.topic)) for name, each in partitions.items()}
        return cls(state, _controller(cluster, state), partitions, health)

    def as_text(self) -> str:
        """The report as text."""
        parts = [", ".join(self._facts()), columns(BROKERS, map(self._broker_row, self.cluster.brokers))]
        unwell = self.unwell()
        if unwell:
            parts.append(columns(UNWELL, map(self._partition_row, unwell[:ROWS_SHOWN])))
        if self.controller is None:
            parts.append(NO_CONTROLLER)
        if len(unwell) > ROWS_SHOWN:
            parts.append(f"… and {len(unwell) - ROWS_SHOWN} more, which --json lists")
        return "\n\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON; what is not known is null."""
        return {
            "id": self.cluster.id,
            "controller": self.controller,
            "brokers": [self._broker_json(each) for each in self.cluster.brokers],
            "partitions": {"total": len(self.partitions), **self._counts()},
            "unwell": [self._partition_json(each) for each in self.unwell()],
        }

    def unwell(self) -> list[TopicPartition]:
        """The partitions that are offline, under min.insync.replicas or under-replicated, worst first."""
        found = [each for each, health in self.health.items() if not health.well]
        return sorted(found, key=lambda each: (_rank(self.health[each]), each))

    def _counts(self) -> dict[str, int]:
        health = self.health.values()
        return {
            "offline": sum(each.offline for each in health),
            "under_min_isr": sum(each.under_min_isr for each in health),
            "under_replicated": sum(each.under_replicated for each in health),
        }

    def _facts(self) -> list[str]:
        controller = "no controller" if self.controller is None else f"controller {self.controller}"
        counts = self._counts()
        facts = [f"cluster {self.cluster.id}: {plural(len(self.cluster.brokers), 'broker')}", controller]
        facts.append(plural(len(self.partitions), "partition"))
        wrong = [
            (counts["offline"], "without a leader"),
            (counts["under_min_isr"], f"under {MIN_ISR}"),
            (counts["under_replicated"], "under-replicated"),
        ]
        facts += [f"{count} {what}" for count, what in wrong if count]
        return facts if any(counts.values()) or not self.partitions else [*facts, "all in sync"]

    def _broker_row(self, broker: BrokerState) -> tuple[Any, ...]:
        leads, replicas = share_of(broker.id, self.partitions.values())
        state = "fenced" if broker.fenced else "alive"
        return (broker.id, broker.address, broker.rack, state, leads, replicas, self._in_sync(broker.id))

    def _in_sync(self, node_id: int) -> int:
        return sum(node_id in each.isr for each in self.partitions.values())

    def _partition_row(self, name: TopicPartition) -> tuple[Any, ...]:
        partition = self.partitions[name]
        return (
            name.topic,
            name.partition,
            "none" if partition.leader == NO_LEADER else str(partition.leader),
            ",".join(map(str, partition.replicas)),
            ",".join(map(str, partition.isr)),
            _in_words(self.health[name]),
        )

    def _broker_json(self, broker: BrokerState) -> dict[str, Any]:
        leads, replicas = share_of(broker.id, self.partitions.values())
        return {
            "id": broker.id,
            "host": broker.address.host,
            "port": broker.address.port,
            "rack": broker.rack,
            "state": "fenced" if broker.fenced else "alive",
            "leads": leads,
            "replicas": replicas,
            "in_sync": self._in_sync(broker.id),
        }

    def _partition_json(self, name: TopicPartition) -> dict[str, Any]:
        partition, health = self.partitions[name], self.health[name]
        return {
            "topic": name.topic,
            "partition": name.partition,
            "leader": None if partition.leader == NO_LEADER else partition.leader,
            "replicas": partition.replicas,
            "isr": partition.isr,
            "offline": health.offline,
            "under_min_isr": health.under_min_isr,
            "under_replicated": health.under_replicated,
        }


def _rank(health: Health) -> int:
    return 0 if health.offline else 1 if health.under_min_isr else 2


def _in_words(health: Health) -> str:
    if health.offline:
        return "no leader: nobody reads or writes"
    return f"under {MIN_ISR}: acks=all is refused" if health.under_min_isr else "under-replicated"


def _minimums(admin: Admin, topics: list[Topic]) -> Mapping[str, int]:
    """min.insync.replicas of the topics for which it matters, as far as it is told."""
    found: dict[str, int] = {}
    for topic in topics:
        if all(len(each.isr) >= len(each.replicas) for each in topic.partitions):
            continue
        try:
            configs = admin.configs(Resource(ResourceType.TOPIC, topic.name))
        except ProtocolError:
            continue  # it was deleted a moment ago, or is not ours to ask about
        found.update((topic.name, int(each.value)) for each in configs if each.name == MIN_ISR and each.value)
    return found


def _controller(admin: ClusterAdmin, state: ClusterState) -> int | None:
    """The quorum's leader; what brokers tell clients is any broker, as all of them pass requests on."""
    try:
        leader = admin.describe_quorum().leader_id
    except ProtocolError as error:
        if error.code is not ErrorCode.UNSUPPORTED_VERSION:
            return None
        leader = state.controller_id
    return leader if leader >= 0 else None
