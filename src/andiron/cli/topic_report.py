"""`andiron topic describe`: partitions, leaders, ISR, offsets, sizes and settings of one topic.

Three questions beside the metadata: the offsets at both ends of each log, the bytes that its replicas
take on each broker, and the settings. A leader that does not answer soon leaves its offsets and bytes out, and so
does a partition without one; a description is most needed when something is down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from andiron.cli.output import columns, human_bytes, plural
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.broker_survey import LogExtent, log_extents
from andiron.client.blocking.client import Client
from andiron.client.core.descriptions import Config, Resource, ResourceType
from andiron.client.core.metadata import NO_LEADER, Partition, Topic
from andiron.model.ids import TopicPartition

UNKNOWN = "?"


class TopicReport(NamedTuple):
    """A topic's metadata, its logs' ends and sizes, and its settings."""

    topic: Topic
    logs: dict[TopicPartition, LogExtent]  # of leaders that have answered
    configs: list[Config]  # settings that differ from their defaults

    @classmethod
    def gather(cls, client: Client, name: str) -> TopicReport:
        """Ask the leaders and brokers of a topic for all that the report shows."""
        admin = Admin(client)
        topic = admin.topic(name)
        configs = admin.configs(Resource(ResourceType.TOPIC, name), anywhere=True)
        return cls(
            topic,
            log_extents(client, topic.names(), sizes=True),
            [each for each in configs if not each.is_default],
        )

    def as_text(self) -> str:
        """The report as text."""
        topic = self.topic
        logs = self.logs.values()
        records = sum(
            each.end - each.start for each in logs if each.start is not None and each.end is not None
        )
        facts = [plural(len(topic.partitions), "partition"), f"id {topic.id_text}"]
        facts += [f"at most {plural(records, 'record')}", human_bytes(sum(each.size or 0 for each in logs))]
        facts += ["internal"] if topic.internal else []
        facts += self._silent()
        head = ("PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "START", "END", "SIZE")
        parts = [f"{topic.name}: {', '.join(facts)}", columns(head, map(self._row, topic.partitions))]
        if self.configs:
            rows = [(each.name, each.value, each.source_name) for each in self.configs]
            parts.append(columns(("SETTING", "VALUE", "FROM"), rows))
        return "\n\n".join(parts)

    def _silent(self) -> list[str]:
        """A line about leaders that do not answer, so that offsets and sizes are missing."""
        silent = [
            p for p in self.topic.partitions if p.leader != NO_LEADER and self._name(p) not in self.logs
        ]
        if not silent:
            return []
        leaders = ", ".join(map(str, sorted({each.leader for each in silent})))
        return [f"{plural(len(silent), 'partition')} not counted: no answer from broker {leaders}"]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON; what is not known is null."""
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
        start, end, size = self.logs.get(self._name(partition), LogExtent())
        return (
            partition.number,
            "none" if partition.leader == NO_LEADER else partition.leader,
            partition.epoch,
            ",".join(map(str, partition.replicas)),
            ",".join(map(str, partition.isr)),
            UNKNOWN if start is None else start,
            UNKNOWN if end is None else end,
            UNKNOWN if size is None else human_bytes(size),
        )

    def _partition_json(self, partition: Partition) -> dict[str, Any]:
        start, end, size = self.logs.get(self._name(partition), LogExtent())
        return {
            "partition": partition.number,
            "leader": None if partition.leader == NO_LEADER else partition.leader,
            "leader_epoch": partition.epoch,
            "replicas": partition.replicas,
            "isr": partition.isr,
            "offline": partition.offline,
            "start": start,
            "end": end,
            "bytes": size,
        }
