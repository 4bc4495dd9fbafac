"""A cluster whose brokers come and go, and what is held against it after every decision.

Beside the cluster goes a model of what is written: how many committed records each partition has, and how many
of these each replica holds. A record is committed when the ISR is large enough, and then everybody in it holds
it; who is let into the ISR has caught up; who is killed may have lost everything. Whoever is elected must
hold all that is committed, or be told to recover.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from andiron.controller.controller import Controller
from andiron.controller.image import NO_LEADER, TOPIC, PartitionImage
from andiron.controller.leader_election import periodic_elections
from andiron.controller.partition_changes import TopicRules
from andiron.controller.records import MetadataRecord, decode_record
from andiron.model.ids import Millis, NodeId, Offset
from andiron.model.machine import LogLoaded, TimePassed
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from controller.cluster import Cluster

BROKERS = 5
TOPICS = ("one", "two", "wild")  # wild allows an unclean leader


@dataclass
class Written:
    """What a partition's replicas hold."""

    committed: int = 0
    held: dict[int, int] = field(default_factory=dict)


class Drill(Cluster):
    """A cluster that looks at itself after every decision."""

    def __init__(self) -> None:
        self.written: dict[str, Written] = {}
        self.lives = dict.fromkeys(range(1, BROKERS + 1), 1)
        self.unclean_asked = self.moving = False
        super().__init__(0)
        self.run(LogLoaded())
        for number in self.lives:
            self.join(number)
        self.place("one", [1, 2])
        self.place("two", [2, 3, 4], min_insync_replicas="2")
        self.place("wild", [3, 1, 5], min_insync_replicas="2", unclean_leader_election_enable="true")
        self.written = {
            name: Written(held=dict.fromkeys(self.partition(name).replicas, 0)) for name in TOPICS
        }

    # ── what can happen ──────────────────────────────────────────────────────────────

    def write(self, topic: str) -> None:
        partition, written = self.partition(topic), self.written[topic]
        if partition.leader != NO_LEADER and self._enough(topic, partition):
            written.committed += 1
            for replica in partition.isr:
                written.held[replica] = written.committed

    def kill(self, number: int) -> None:
        """It is gone at once; its session runs out, and it starts again."""
        if NodeId(number) in self.image.brokers:
            self.crash(number)
            self._lose(number)
            self._start(number, previous=-1)

    def restart(self, number: int) -> None:
        """It stops in good order, and starts again."""
        known = self.image.brokers.get(NodeId(number))
        if known is None:
            return
        for _ in range(3):
            if self.beat(number, want_shut_down=True).should_shut_down:
                self._start(number, previous=known.epoch)
                return
            for other in list(self.image.brokers.values()):
                if other.live:
                    self.beat(other.id)
        raise AssertionError("a broker may shut down once all others know")

    def silence(self, number: int) -> None:
        """It is cut off for a while, and goes on as before."""
        if NodeId(number) in self.image.brokers:
            self.crash(number)

    def return_(self, number: int) -> None:
        if NodeId(number) in self.image.brokers:
            self.beat(number)

    def strike_off(self, number: int) -> None:
        if NodeId(number) in self.image.brokers:
            self.run(UnregisterBrokerRequest(number))
            self._lose(number)

    def enlist(self, number: int) -> None:
        if NodeId(number) not in self.image.brokers:
            self._start(number, previous=-1)

    def in_sync(self, topic: str, members: list[int]) -> None:
        partition, written = self.partition(topic), self.written[topic]
        if partition.leader == NO_LEADER:
            return
        isr = [each for each in partition.replicas if each in members or each == partition.leader]
        before = dict(written.held)
        for each in isr:  # whoever is let in has caught up by then
            written.held[each] = written.committed
        self.alter(topic, isr)
        for each in isr:
            if each not in self.partition(topic).isr:
                written.held[each] = before.get(each, 0)

    def move(self, topic: str, replicas: list[int] | None) -> None:
        asked = [ReassignableTopic(topic, [ReassignablePartition(0, replicas)])]
        self.moving = True
        self.run(AlterPartitionReassignmentsRequest(topics=asked))
        self.moving = False

    def elect(self, topic: str, kind: int) -> None:
        self.unclean_asked = kind == 1
        self.run(ElectLeadersRequest(kind, [TopicPartitions(topic, [0])]))
        self.unclean_asked = False

    def require(self, topic: str, count: int) -> None:
        change = AlterableConfig("min.insync.replicas", 0, str(count))
        self.run(IncrementalAlterConfigsRequest([AlterConfigsResource(TOPIC, topic, [change])]))

    def look_after(self) -> None:
        self.append(periodic_elections(self.image, self.settings))

    def fail_over(self) -> None:
        """Another controller takes over from the log."""
        other = Controller(self.settings, seed=8)
        for offset, value in enumerate(self.log):
            other.replay(decode_record(value), Offset(offset))
        assert other.image == self.image
        self.controller = other
        self.run(LogLoaded())

    def _start(self, number: int, previous: int) -> None:
        self.lives[number] += 1
        self.join(number, run=self.lives[number], previous_broker_epoch=previous)

    def _lose(self, number: int) -> None:
        for written in self.written.values():
            written.held[number] = 0

    # ── what must hold ───────────────────────────────────────────────────────────────

    def run(self, request: Any) -> Any:
        decision = self.controller.decide(request, Millis(self.now))
        if not isinstance(request, TimePassed):  # which notes when it was last asked
            assert self.controller.decide(request, Millis(self.now)) == decision
        self.append(decision.records)
        return decision.response

    def append(self, records: list[MetadataRecord]) -> None:
        before = {name: self.partition(name) for name in self.written}
        super().append(records)
        for name, old in before.items():
            new = self.partition(name)
            self._check_state(name, new)
            if new != old:
                self._check_step(name, old, new)

    def _check_state(self, topic: str, partition: PartitionImage) -> None:
        assert len(set(partition.replicas)) == len(partition.replicas) == len(partition.directories)
        assert set(partition.isr) | set(partition.elr) <= set(partition.replicas)
        assert set(partition.adding) | set(partition.removing) <= set(partition.replicas)
        assert not set(partition.isr) & set(partition.elr)
        assert all(self.image.is_live(member) for member in partition.isr)
        assert (partition.leader in partition.isr) if partition.isr else partition.leader == NO_LEADER
        assert not (self._enough(topic, partition) and partition.elr)
        assert not (partition.isr and partition.last_known_elr)
        if not partition.isr:
            waited_for = partition.elr or partition.last_known_elr
            assert waited_for and not any(self.image.is_live(each) for each in waited_for)
            assert set(waited_for) <= set(partition.replicas)

    def _check_step(self, topic: str, old: PartitionImage, new: PartitionImage) -> None:
        assert new.partition_epoch > old.partition_epoch
        assert new.leader_epoch >= old.leader_epoch
        if new.leader != old.leader:
            assert new.leader_epoch > old.leader_epoch
        if old.reassigning and not new.reassigning and not self.moving:
            assert set(new.replicas) == set(new.isr), "moved before all were there"
        if new.leader in (old.leader, NO_LEADER):
            return
        written = self.written[topic]
        if new.leader in (*old.isr, *old.elr) or not new.recovering:
            assert written.held.get(new.leader, 0) == written.committed, "elected without what is committed"
        else:
            known = (old.leader, *old.last_known_elr)
            assert self._rules(topic).unclean or self.unclean_asked or new.leader in known
            written.committed = written.held.get(new.leader, 0)

    def _rules(self, topic: str) -> TopicRules:
        return TopicRules.of(topic, self.image, self.settings)

    def _enough(self, topic: str, partition: PartitionImage) -> bool:
        return len(partition.isr) >= min(self._rules(topic).min_insync, len(partition.replicas))
