"""Which node to ask for what, as far as a client knows: from where it begins, and from what it was told since.

    bootstrap     any broker
    leaders       Produce, Fetch, ListOffsets    ◀── Metadata: brokers, who leads each partition, in which epoch
    coordinators  groups, transactions           ◀── FindCoordinator: who keeps a group or a transactional id

What it was told may be old: leaders and coordinators move. Whoever is told so by the node it asked (a StaleMetadata
error, or silence) says `doubt` or `forget`, and asks again where to go. Where there is one node only there is nothing
to find out, and nobody else to ask.

Read next: client.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from andiron.model.errors import ErrorCode, Retriable, StaleMetadata
from andiron.model.ids import Address, TopicPartition

if TYPE_CHECKING:
    from andiron.sim.host import Host
    from andiron.sim.network import Network

GROUP, TRANSACTION = 0, 1  # as key types of FindCoordinator

Key = tuple[int, str]  # what is coordinated: a kind, and a name


class Leader(NamedTuple):
    """Who leads a partition."""

    host: Host
    epoch: int
    topic_id: bytes  # one that is made again counts its epochs anew


class Signposts:
    """What one client knows of the cluster."""

    def __init__(self, network: Network, hosts: list[Host]) -> None:
        self._network = network
        self.brokers = [host for host in hosts if "broker" in host.settings.roles]  # to begin from
        self.are_stale = False
        self._leaders: dict[TopicPartition, Leader] = {}
        self._coordinators: dict[Key, Host] = {}

    @property
    def only(self) -> Host | None:
        """The one broker, if there is no other."""
        return self.brokers[0] if len(self.brokers) == 1 else None

    # ── asking ───────────────────────────────────────────────────────────────────────

    def leader_of(self, name: TopicPartition) -> Host | None:
        """Who is said to lead a partition."""
        leader = self._leaders.get(name)
        return self.only or (None if leader is None else leader.host)

    def epoch_of(self, name: TopicPartition) -> int:
        """In which epoch; -1 if that is not known."""
        leader = self._leaders.get(name)
        return -1 if leader is None else leader.epoch

    def coordinator_of(self, key: Key) -> Host | None:
        """Who is said to keep a group or a transactional id."""
        return self.only or self._coordinators.get(key)

    # ── being told ───────────────────────────────────────────────────────────────────

    def learn(self, response: Any) -> None:
        """Take in an answer to a Metadata request."""
        self.are_stale = False
        hosts = {broker.node_id: self._at(broker.host, broker.port) for broker in response.brokers}
        for topic in response.topics:
            for partition in topic.partitions:
                name, host = (
                    TopicPartition(topic.name, partition.partition_index),
                    hosts.get(partition.leader_id),
                )
                known = self._leaders.get(name)
                if host is None:
                    self._leaders.pop(name, None)
                    self.doubt()
                elif (
                    known is None or known.topic_id != topic.topic_id or partition.leader_epoch >= known.epoch
                ):
                    self._leaders[name] = Leader(host, partition.leader_epoch, topic.topic_id)

    def find(self, key: Key, host: str, port: int) -> Host | None:
        """Take in an answer to a FindCoordinator request."""
        found = self._at(host, port)
        if found is not None:
            self._coordinators[key] = found
        return found

    def doubt(self) -> None:
        """What is known of leaders is not so."""
        self.are_stale = self.only is None

    def forget(self, key: Key | None) -> None:
        """A coordinator is not where it was."""
        if key is not None:
            self._coordinators.pop(key, None)

    def misled(self, code: ErrorCode) -> bool:
        """Whether a node says that another should be asked; then what is known is doubted."""
        is_stale = code.remedy is not None and issubclass(code.remedy, StaleMetadata)
        if is_stale or code is ErrorCode.UNKNOWN_LEADER_EPOCH:
            self.doubt()
        return is_stale

    def _at(self, host: str, port: int) -> Host | None:
        found = self._network.locate(Address(host, port))
        return None if found is None else found[0]


def passes(code: ErrorCode) -> bool:
    """Whether what was answered with this may be asked again, as it is."""
    is_retriable = code.remedy is not None and issubclass(code.remedy, Retriable)
    return is_retriable or code is ErrorCode.BROKER_NOT_AVAILABLE
