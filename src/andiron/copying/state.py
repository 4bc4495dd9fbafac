"""The state of a copy, to begin again from: a compacted topic on the target.

    producer  source cluster                         the identity under which it writes
    topic     source cluster, topic, its id there    the topic's id on the source
    map       the same, partition, a number          where offsets shift (offset_map.py), in the order of the numbers
    group     source cluster, group                  the offsets that were last committed for it, and before

It lies on the target because that is where the progress is, the ends of its partitions: a file on somebody's disk would
be lost, or be of another state of the target, or of another one's copy. It is read once, from the beginning, and grows
by what shifts, not by what is copied. A topic that was deleted on the target and made anew has another id, and nothing
that is noted of the old one counts for it.

The law: what is noted is acknowledged by all replicas in sync before anything is done that relies on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.reader import PartitionReader
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.client.core.outbox import ProducerIdentity
from andiron.copying.offset_map import OffsetMap, Stretch
from andiron.copying.selection import STATE_TOPIC
from andiron.model.ids import TopicPartition

REPLICAS_MAX = 3
PARTITION = TopicPartition(STATE_TOPIC, 0)

Note: TypeAlias = tuple[list[Any], dict[str, Any]]
Ours: TypeAlias = dict[TopicPartition, tuple[int, ...]]


class Target(NamedTuple):
    """A topic of the target by name and id: one that is created again has another id."""

    topic: str
    id: str


class State:
    """What is known of the copies from one source; changed by replaying notes, and by nothing else."""

    def __init__(self, source_cluster: str) -> None:
        self.source_cluster = source_cluster
        self.producer: ProducerIdentity | None = None
        self.topics: dict[Target, str] = {}  # → the topic's id on the source
        self.maps: dict[tuple[Target, int], OffsetMap] = {}
        self.groups: dict[str, Ours] = {}
        self._numbers: dict[tuple[Target, int], int] = {}

    def replay(self, key: Sequence[Any], value: Mapping[str, Any]) -> None:
        """Take in a note; those of other sources, and of kinds that a later version may have, are passed over."""
        kind, cluster, *rest = key
        if cluster != self.source_cluster:
            return
        if kind == "producer":
            self.producer = ProducerIdentity(value["id"], value["epoch"])
        elif kind == "topic":
            self.topics[Target(*rest)] = value["source_id"]
        elif kind == "map":
            name, id_text, partition, number = rest
            self._replay_map(Target(name, id_text), partition, number, value)
        elif kind == "group":
            self.groups[rest[0]] = {
                TopicPartition(name, at): tuple(offsets) for name, at, offsets in value["offsets"]
            }

    def _replay_map(self, topic: Target, partition: int, number: int, value: Mapping[str, Any]) -> None:
        known = self.maps.setdefault((topic, partition), OffsetMap())
        self._numbers[topic, partition] = number + 1
        if value["cut"] is not None and known.stretches:
            known.cut(value["cut"])
        for each in value["stretches"]:
            known.add(Stretch(*each))

    # ── what to note ─────────────────────────────────────────────────────────────────

    def note_producer(self, identity: ProducerIdentity) -> Note:
        return ["producer", self.source_cluster], {"id": identity.id, "epoch": identity.epoch}

    def note_topic(self, topic: Target, source_id: str) -> Note:
        return ["topic", self.source_cluster, *topic], {"source_id": source_id}

    def note_map(
        self, topic: Target, partition: int, stretches: Iterable[Stretch], cut: int | None = None
    ) -> Note:
        """Stretches that are about to be used; what was noted of targets from `cut` on is void."""
        number = self._numbers.get((topic, partition), 0)
        self._numbers[topic, partition] = number + 1
        key = ["map", self.source_cluster, *topic, partition, number]
        return key, {"cut": cut, "stretches": [list(each) for each in stretches]}

    def note_group(self, group: str, offsets: Ours) -> Note:
        rows = [[*partition, list(some)] for partition, some in sorted(offsets.items())]
        return ["group", self.source_cluster, group], {"offsets": rows}


class StateTopic:
    """The compacted topic of the state, on the target."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._producer: Producer | None = None

    @property
    def exists(self) -> bool:
        return any(each.name == STATE_TOPIC for each in self._client.topics())

    def create(self) -> None:
        """Create the topic, unless it exists."""
        if not self.exists:
            replicas = min(REPLICAS_MAX, len(self._client.metadata.brokers))
            Admin(self._client).create_topic(STATE_TOPIC, 1, replicas, {"cleanup.policy": "compact"})

    def load(self, source_cluster: str) -> State:
        """Read the state of copies from a source cluster; empty where there is no topic."""
        state = State(source_cluster)
        if self.exists:
            admin = Admin(self._client)
            start, end = (admin.list_offsets({PARTITION: at})[PARTITION].offset for at in (EARLIEST, LATEST))
            reader = PartitionReader(self._client, PARTITION, start, end)
            for record in reader:
                state.replay(json.loads(record.key or b'["", ""]'), json.loads(record.value or b"{}"))
            reader.close()
        return state

    def write(self, notes: Iterable[Note]) -> None:
        """Write notes to the topic; return when they are acknowledged."""
        if self._producer is None:
            self._producer = Producer(self._client)
        for key, value in notes:
            self._producer.send(STATE_TOPIC, json.dumps(value).encode(), key=json.dumps(key).encode())
        self._producer.flush()

    def close(self) -> None:
        """Close the connections."""
        if self._producer is not None:
            self._producer.close()
