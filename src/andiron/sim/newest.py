"""The newest committed metadata that any node has had: what the cluster is, whoever still has to learn of it.

    node-1  applied 54                node-2 applied 57 ← this counts, also after node-2 is gone
    node-3  starts anew, applied 12: it may think for a moment that it leads what it led then

A node that replays its metadata, is cut off, or has not been let in again, acts on what may be over. Nobody can ask it,
or nobody heeds what it answers; what it thinks is then no law's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from andiron.controller.image import BrokerImage, Image, PartitionImage
from andiron.model.ids import NodeId, TopicPartition
from andiron.sim.watcher import Watcher

if TYPE_CHECKING:
    from andiron.broker.replicas.partition import Partition
    from andiron.sim.canon import Place
    from andiron.sim.host import Host


class Newest(Watcher):
    """Follows whoever is ahead."""

    def __init__(self) -> None:
        self.applied = -1
        self._image: Image | None = None
        self._told: dict[int, int] = {}  # what was the newest at the last step of each host
        self._has_moved = False  # since then

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        metadata = host.node.broker.metadata
        if metadata.applied > self.applied:
            self.applied, self._image = metadata.applied, metadata.image
        self._has_moved = self._told.get(host.number) != self.applied
        self._told[host.number] = self.applied

    def concerned(self, host: Host) -> Iterable[Partition]:
        """The replicas of a host that just stepped of which a law may find something else than after its last step:
        those that have changed, or all if the metadata has."""
        assert host.node is not None
        return host.node.broker.replica_manager if self._has_moved else host.changed

    def partition(self, place: Place) -> PartitionImage | None:
        """How a partition stands."""
        topic = None if self._image is None else self._image.topics_by_id.get(place[0])
        return None if topic is None else topic.partitions.get(place[1])

    def partitions(self) -> Iterator[tuple[TopicPartition, PartitionImage]]:
        """How all of them stand."""
        for topic in () if self._image is None else self._image.topics.values():
            for number, partition in topic.partitions.items():
                yield TopicPartition(topic.name, number), partition

    def topic_id(self, name: str) -> bytes | None:
        """What a topic is known by."""
        topic = None if self._image is None else self._image.topics.get(name)
        return None if topic is None else topic.id

    def broker(self, node: int) -> BrokerImage | None:
        """How a broker is registered."""
        return None if self._image is None else self._image.brokers.get(NodeId(node))

    def leads(self, host: Host, partition: Partition) -> bool:
        """Whether a replica leads in earnest: in the latest epoch, and where others can ask it for something."""
        if not partition.leads or not host.is_open:
            return False
        told = self.partition((partition.topic_id, partition.name.partition))
        return told is not None and partition.epoch >= told.leader_epoch
