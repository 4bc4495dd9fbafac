"""All that there is to say about one topic, gathered from its leaders and brokers.

Three questions beside the metadata: the offsets at both ends of each log, the bytes that its replicas
take on each broker, and the settings. A broker that cannot be reached leaves its bytes out, and a
partition without a leader its offsets; a description is most needed when something is down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from andiron.cli.output import columns, human_bytes, plural
from andiron.client.blocking.admin import Admin
from andiron.client.core.descriptions import EARLIEST, LATEST, Config, OffsetAt, Resource, ResourceType
from andiron.client.core.metadata import NO_LEADER, Partition, Topic
from andiron.model.errors import ProtocolError, Retriable
from andiron.model.ids import TopicPartition

UNKNOWN = "?"
Offsets = dict[TopicPartition, OffsetAt]


class TopicReport(NamedTuple):
    """What was found."""

    topic: Topic
    starts: Offsets
    ends: Offsets
    sizes: dict[TopicPartition, int]  # bytes on the leader
    configs: list[Config]  # those that differ from the defaults

    @classmethod
    def gather(cls, admin: Admin, name: str) -> TopicReport:
        """Ask everyone concerned."""
        topic = admin.topic(name)
        led = [TopicPartition(name, number) for number in topic.writable()]
        configs = admin.configs(Resource(ResourceType.TOPIC, name))
        return cls(
            topic,
            _offsets(admin, led, EARLIEST),
            _offsets(admin, led, LATEST),
            _sizes(admin, topic),
            [each for each in configs if not each.is_default],
        )

    def as_text(self) -> str:
        """For people."""
        topic = self.topic
        known = [each for each in self.ends if each in self.starts]
        records = sum(self.ends[each].offset - self.starts[each].offset for each in known)
        facts = [plural(len(topic.partitions), "partition"), f"id {topic.id_text}"]
        facts += [f"at most {plural(records, 'record')}", human_bytes(sum(self.sizes.values()))]
        facts += ["internal"] if topic.internal else []
        head = ("PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "START", "END", "SIZE")
        parts = [f"{topic.name}: {', '.join(facts)}", columns(head, map(self._row, topic.partitions))]
        if self.configs:
            rows = [(each.name, each.value, each.source_name) for each in self.configs]
            parts.append(columns(("SETTING", "VALUE", "FROM"), rows))
        return "\n\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        """For programs; what is not known is null."""
        return {
            "name": self.topic.name,
            "id": self.topic.id_text,
            "internal": self.topic.internal,
            "partitions": [self._partition_json(each) for each in self.topic.partitions],
            "configs": {
                each.name: {"value": each.value, "source": each.source_name} for each in self.configs
            },
        }

    def _name(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self.topic.name, partition.number)

    def _row(self, partition: Partition) -> tuple[Any, ...]:
        name = self._name(partition)
        start, end, size = self.starts.get(name), self.ends.get(name), self.sizes.get(name)
        return (
            partition.number,
            "none" if partition.leader == NO_LEADER else partition.leader,
            partition.epoch,
            ",".join(map(str, partition.replicas)),
            ",".join(map(str, partition.isr)),
            UNKNOWN if start is None else start.offset,
            UNKNOWN if end is None else end.offset,
            UNKNOWN if size is None else human_bytes(size),
        )

    def _partition_json(self, partition: Partition) -> dict[str, Any]:
        name = self._name(partition)
        start, end = self.starts.get(name), self.ends.get(name)
        return {
            "partition": partition.number,
            "leader": None if partition.leader == NO_LEADER else partition.leader,
            "leader_epoch": partition.epoch,
            "replicas": partition.replicas,
            "isr": partition.isr,
            "offline": partition.offline,
            "start": start.offset if start else None,
            "end": end.offset if end else None,
            "bytes": self.sizes.get(name),
        }


def _offsets(admin: Admin, led: list[TopicPartition], at: int) -> Offsets:
    """Where the logs start or end; none, where a leader is lost while it is asked and no other comes in time."""
    try:
        return admin.list_offsets(dict.fromkeys(led, at))
    except Retriable:
        return {}


def _sizes(admin: Admin, topic: Topic) -> dict[TopicPartition, int]:
    """The bytes of each partition on its leader, as far as leaders can be reached."""
    led: dict[int, list[TopicPartition]] = {}
    for partition in topic.partitions:
        if partition.leader != NO_LEADER:
            led.setdefault(partition.leader, []).append(TopicPartition(topic.name, partition.number))
    sizes: dict[TopicPartition, int] = {}
    for node_id, partitions in led.items():
        try:
            for log_dir in admin.log_dirs(node_id, partitions):
                sizes.update(log_dir.sizes)
        except ProtocolError:
            continue
    return sizes
