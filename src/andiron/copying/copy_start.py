"""How a copy begins, or begins again: the topics made, the state read, and each partition found where it is.

    plans ──▶ topics created on the target ──▶ noted ──▶ partitions opened ──▶ empty records before the first offset
                                                             │
                         what the target's end says, held against the source's record there

The law: what another has written to the target is not taken for ours. Where a copy goes on, the last record on the
target must be the record of the source that it says it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pyarrow as pa

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.core.metadata import Topic
from andiron.client.core.outbox import ProducerIdentity
from andiron.client.settings import ReaderSettings
from andiron.copying import lead_in
from andiron.copying.chunks import TOGETHER_BYTES
from andiron.copying.cluster_side import SOURCE, TARGET, Side, on
from andiron.copying.copy_options import CopyOptions
from andiron.copying.errors import CopyError
from andiron.copying.partition_copy import PartitionCopy, begun, resumed
from andiron.copying.plan import MESSAGE_BYTES, POLICY, KnownTopic, TopicFacts, TopicPlan, deletes, plan_topic
from andiron.copying.producer import CopyProducer
from andiron.copying.selection import check_patterns, is_chosen
from andiron.copying.state import Note, Ours, State, StateTopic, Target
from andiron.model.ids import TopicPartition

LOOK_S = 10.0  # between two looks for topics and partitions that are new
ONE_RECORD = ReaderSettings(max_partition_fetch_bytes=64 << 10)
_COMPARED = ("key", "value", "headers", "timestamp")


class CopyStart:
    """Plans a copy, creates its topics on the target, and opens its partitions."""

    def __init__(
        self,
        source: Side,
        target: Side,
        source_cluster: str,
        wishes: CopyOptions,
        *,
        tell: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._target, self.wishes = source, target, wishes
        self._excluded = list(wishes.exclude)
        self._tell, self._clock = tell, clock
        self._notes = StateTopic(target.client)
        self._looked_at = clock()
        with on(TARGET):
            self.state: State = self._notes.load(source_cluster)
        self.plans: dict[str, TopicPlan] = {}
        self.sources: dict[str, TopicFacts] = {}
        self.targets: dict[str, TopicFacts] = {}

    def close(self) -> None:
        """Close the connections to both clusters."""
        self._notes.close()

    # ── topics ───────────────────────────────────────────────────────────────────────

    def plan(self) -> list[TopicPlan]:
        """The plan of each topic; nothing is changed."""
        with on(SOURCE):
            topics = self._source.client.topics()
        if not self.plans:
            check_patterns(topics, self.wishes.topics)
        wanted = [each for each in topics if is_chosen(each, self.wishes.topics, self._excluded)]
        with on(TARGET):
            there = {each.name: each for each in self._target.client.topics()}
        self.sources = self._source.facts(wanted, committed=self.wishes.committed)
        self.targets = self._target.facts([there[each.name] for each in wanted if each.name in there])
        understood, brokers = self._target.understood(), len(self._target.client.metadata.brokers)
        self.plans = {
            each.name: plan_topic(
                self.sources[each.name],
                self.targets.get(each.name),
                self._known(there.get(each.name)),
                brokers,
                understood,
                self.wishes.replication_factor,
            )
            for each in wanted
        }
        return list(self.plans.values())

    def prepare(self) -> None:
        """Create the planned topics on the target, and note their sources; a refusal stops all before any change."""
        for plan in self.plans.values():
            if plan.refusal:
                raise CopyError(plan.refusal)
        with on(TARGET):
            self._notes.create()
            for plan in self.plans.values():
                if plan.create:
                    self._target.admin.create_topic(
                        plan.name, plan.partitions, plan.replication_factor, plan.configs
                    )
                elif plan.grow:
                    self._target.admin.create_partitions(plan.name, plan.partitions)
            made = [each for each in self._target.client.topics() if each.name in self.plans]
            self.targets = self._target.facts(made)
            self._note(
                self.state.note_topic(_named(facts.topic), self.sources[name].topic.id_text)
                for name, facts in self.targets.items()
                if _named(facts.topic) not in self.state.topics
            )

    def grown(self) -> bool:
        """Whether the source has new topics or partitions, looked for now and then; they are then prepared."""
        if not self.wishes.follow or self._clock() - self._looked_at < LOOK_S:
            return False
        self._looked_at = self._clock()
        with on(SOURCE):
            topics = self._source.client.topics()
        fresh = [
            each.name
            for each in topics
            if is_chosen(each, self.wishes.topics, self._excluded)
            and (each.name not in self.plans or len(each.partitions) > self.plans[each.name].partitions)
        ]
        if not fresh:
            return False
        for plan in self.plan():
            if plan.refusal:
                self._tell(f"not copied: {plan.refusal}")
                self._excluded.append(plan.name)
                del self.plans[plan.name]
        self.prepare()
        self._tell(f"new on the source: {', '.join(fresh)}")
        return True

    def source_ids(self) -> dict[str, str]:
        """The topics that are copied, with their ids on the source."""
        return {name: self.sources[name].topic.id_text for name in self.plans}

    def source_ends(self) -> dict[TopicPartition, int]:
        """The source's log end offsets when the copy was planned."""
        return {
            TopicPartition(name, at): end
            for name in self.plans
            for at, end in self.sources[name].ends.items()
        }

    def _known(self, topic: Topic | None) -> KnownTopic:
        return KnownTopic(self.state.topics.get(_named(topic))) if topic is not None else KnownTopic()

    # ── partitions ───────────────────────────────────────────────────────────────────

    def identity(self) -> ProducerIdentity | None:
        """The producer id and epoch under which an earlier run wrote."""
        return self.state.producer

    def copies(
        self, producer: CopyProducer, left_out: Callable[[TopicPartition], bool]
    ) -> dict[TopicPartition, PartitionCopy]:
        """Every partition but those that are left out, found where it is and ready for its next record."""
        if self.state.producer != producer.identity:
            self._note([self.state.note_producer(producer.identity)])
        named = [each for name in self.plans for each in self.sources[name].topic.names()]
        partitions = [each for each in named if not left_out(each)]
        sources, targets = (
            self._source.ends(partitions),
            self._target.settled(partitions, producer.identity),
        )
        found = {each: self._open(each, sources[each][0], targets[each]) for each in partitions}
        self.note_fresh(found.values())
        for partition, copy in found.items():
            if copy.lead_in:
                self._lead_in(producer, copy)
            first = copy.map.first
            if first.source == first.target and targets[partition][0] < first.target:
                with on(TARGET):
                    self._target.admin.delete_records({partition: first.target})
        return found

    def note_fresh(self, copies: Iterable[PartitionCopy]) -> None:
        """Write new stretches of the offset map to the state topic; return when they are acknowledged."""
        self._note(
            self.state.note_map(copy.topic, copy.partition.partition, copy.take_fresh())
            for copy in copies
            if copy.fresh
        )

    def _open(self, partition: TopicPartition, source_start: int, target: tuple[int, int]) -> PartitionCopy:
        facts = self.targets[partition.topic]
        topic, number = _named(facts.topic), partition.partition
        known = self.state.maps.get((topic, number))
        if known is None:
            copy = begun(
                partition,
                topic,
                source_start,
                target,
                deletes=deletes(facts.configs),
                keep=self.wishes.keep_offsets,
            )
            self.state.maps[topic, number] = copy.map
        else:
            if known.cut(target[1]):
                self._note([self.state.note_map(topic, number, [], cut=target[1])])
            copy = resumed(partition, topic, known, target[1])
            if copy.source - 1 >= source_start and copy.target > max(target[0], known.first.target):
                self._check_last(copy)
        if copy.source < source_start and self.wishes.accept_loss:
            self._tell(
                f"{partition}: offsets {copy.source} to {source_start - 1} are gone from the source; "
                "going on behind them"
            )
            copy.source = source_start
        copy.batch_bytes = min(TOGETHER_BYTES, int(facts.value(MESSAGE_BYTES) or TOGETHER_BYTES))
        return copy

    def _check_last(self, copy: PartitionCopy) -> None:
        """Whether the last record on the target is the one it is said to be; a compacted one says nothing."""
        ours = _record(self._source.client, copy.partition, copy.source - 1, self.wishes.committed)
        theirs = _record(self._target.client, copy.partition, copy.target - 1, self.wishes.committed)
        compacted = "compact" in self.sources[copy.partition.topic].value(POLICY)
        is_another = not compacted if ours is None else not ours.equals(theirs)
        if theirs is not None and is_another:
            raise CopyError(
                f"{copy.partition}: offset {copy.target - 1} of the target is not what the source has at "
                f"{copy.source - 1}: somebody else has written to it. Delete the topic on the target and copy it anew"
            )

    def _lead_in(self, producer: CopyProducer, copy: PartitionCopy) -> None:
        first = copy.map.first.target
        self._tell(
            f"{copy.partition}: {copy.lead_in:,} empty offsets before {first:,}, where the source begins"
        )
        with on(TARGET):
            producer.begin(copy.partition, copy.target)
            for data, count in lead_in.batches(copy.target, first):
                producer.put(copy.partition, data, count)
            producer.flush()
        copy.target, copy.lead_in = first, 0

    def _note(self, notes: Iterable[Note]) -> None:
        rows = list(notes)
        if not rows:
            return
        with on(TARGET):
            self._notes.write(rows)
        for key, value in rows:
            if key[0] != "map":  # which is in the map already
                self.state.replay(key, value)

    def note_group(self, group: str, offsets: Ours) -> None:
        """Write the offsets that were committed for a group to the state topic."""
        self._note([self.state.note_group(group, offsets)])


def _named(topic: Topic) -> Target:
    return Target(topic.name, topic.id_text)


def _record(client: Client, partition: TopicPartition, offset: int, committed: bool) -> pa.Table | None:
    """One record without its offset; None where it is no longer there."""
    with ColumnReader(
        client, partition, offset, offset + 1, headers=True, committed=committed, settings=ONE_RECORD
    ) as reader:
        for rows in reader:
            return rows.select(list(_COMPARED))
    return None
