"""An administrator: makes the topics, and then keeps changing them.

One request at a time, each about one topic, to any broker: settings set and taken back, partitions added, records
deleted, now and then a topic deleted and made again. In between it asks for descriptions, whose
answers must at least decode. What came of each request is for the watchers to hold against what the
node then does (invariants/metadata.py, invariants/retention.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.model.ids import NO_TOPIC_ID, TopicPartition
from andiron.sim.clients.client import Client, Gone, Script, Topic
from andiron.sim.leaders import leading
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.alter_configs import AlterableConfig as ReplacedConfig
from andiron.wire.messages.alter_configs import AlterConfigsRequest
from andiron.wire.messages.alter_configs import AlterConfigsResource as ReplacedResource
from andiron.wire.messages.api_versions import ApiVersionsRequest
from andiron.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from andiron.wire.messages.describe_cluster import DescribeClusterRequest
from andiron.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from andiron.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from andiron.wire.messages.metadata import MetadataRequest

TOPIC = 2  # as a resource type
SET, DELETE = 0, 1
PARTITIONS_MAX = 4


class TopicPlan(NamedTuple):
    """A topic that is to be there."""

    name: str
    partitions: int
    configs: dict[str, str]
    replicas: int = 1


class AdminHabits(NamedTuple):
    """What an administrator changes, how often, and whether topics are deleted too."""

    variations: dict[str, list[str | None]]
    pace_ms: int
    destructive: bool


class Admin(Client):
    """One who changes things."""

    def __init__(
        self, world: World, network: Network, name: str, plans: list[TopicPlan], habits: AdminHabits
    ) -> None:
        super().__init__(world, network, name)
        self._plans = {plan.name: plan for plan in plans}
        self._variations, self._pace_ms, self._destructive = habits
        self._missing = list(self._plans)

    def live(self) -> Script:
        checks = 0
        while not (self.is_closing and checks > 1):
            try:
                yield from self.connected()
                if self._missing:
                    yield from self._make_topics()
                elif self.is_closing and not self._destructive:
                    return
                elif self.is_closing:
                    # A deletion that was given up may still be underway: look again when it cannot be.
                    self._missing = list(self._plans)
                    checks += 1
                    yield 10_000
                else:
                    yield from self._change_something()
            except Gone:
                self._missing = list(self._plans)
            yield self.chance.randint(1, 50 if self._missing else self._pace_ms)

    # ── topics ───────────────────────────────────────────────────────────────────────

    def _make_topics(self) -> Script:
        there = yield from self.find_topics(self._missing)
        names = [topic.name for topic in there]
        self._missing = [name for name in self._missing if name not in names]
        for name in self._missing:
            yield self.ask(self._creation(self._plans[name]))

    def _creation(self, plan: TopicPlan) -> CreateTopicsRequest:
        configs = [CreatableTopicConfig(name, value) for name, value in plan.configs.items()]
        topic = CreatableTopic(plan.name, plan.partitions, plan.replicas, [], configs)
        return CreateTopicsRequest([topic], timeout_ms=self.chance.choice([500, 5_000]))

    def _change_something(self) -> Script:
        names = [name for name in self._plans if name not in INTERNAL]
        topic = yield from self.find_topics([self.chance.choice(names)])
        if not topic:
            self._missing = list(self._plans)
            return
        changes = [self._alteration, self._alteration, self._replacement, self._deletion_of_records]
        if self._destructive:
            changes += [self._growth, self._deletion]
        asks = self.chance.choice([*changes, *changes, self._question])
        request = asks(topic[0])
        if isinstance(request, DeleteRecordsRequest):
            yield self.ask(request, via=(yield from self.at_leader(_place(request))))
        else:
            yield self.ask(request)

    def _growth(self, topic: Topic) -> Any:
        count = min(topic.partitions + 1, PARTITIONS_MAX)
        return CreatePartitionsRequest([CreatePartitionsTopic(topic.name, count, None)], timeout_ms=5_000)

    def _deletion(self, topic: Topic) -> Any:
        self._missing = [topic.name]
        if self.version_of(20) >= 6:
            return DeleteTopicsRequest([DeleteTopicState(topic.name, NO_TOPIC_ID)], timeout_ms=5_000)
        return DeleteTopicsRequest(topic_names=[topic.name], timeout_ms=5_000)

    # ── settings ─────────────────────────────────────────────────────────────────────

    def _variation(self) -> tuple[str, str | None]:
        name = self.chance.choice(list(self._variations))
        return name, self.chance.choice(self._variations[name])

    def _alteration(self, topic: Topic) -> Any:
        name, value = self._variation()
        config = AlterableConfig(name, DELETE if value is None else SET, value)
        return IncrementalAlterConfigsRequest([AlterConfigsResource(TOPIC, topic.name, [config])])

    def _replacement(self, topic: Topic) -> Any:
        configs = dict(self._plans[topic.name].configs)
        name, value = self._variation()
        if value is not None:
            configs[name] = value
        replaced = [ReplacedConfig(name, value) for name, value in configs.items()]
        return AlterConfigsRequest([ReplacedResource(TOPIC, topic.name, replaced)])

    # ── records ──────────────────────────────────────────────────────────────────────

    def _deletion_of_records(self, topic: Topic) -> Any:
        index = self.chance.randrange(topic.partitions)
        leader = leading(self.world, (topic.name, index))
        offset = -1
        if leader is not None and self.chance.random() < 0.8:
            start, end = leader.partition.log.start, leader.partition.watermark
            offset = self.chance.randint(start, max(start, start + (end - start) // 2))
        wanted = DeleteRecordsTopic(topic.name, [DeleteRecordsPartition(index, offset)])
        return DeleteRecordsRequest([wanted], timeout_ms=5_000)

    # ── questions ────────────────────────────────────────────────────────────────────

    def _question(self, topic: Topic) -> Any:
        about = DescribeConfigsResource(TOPIC, topic.name, None)
        return self.chance.choice(
            [
                MetadataRequest([], allow_auto_topic_creation=False),
                DescribeConfigsRequest([about], include_synonyms=True, include_documentation=True),
                DescribeLogDirsRequest(None),
                DescribeClusterRequest(),
                ApiVersionsRequest("sim", "1"),
            ]
        )


def _place(request: DeleteRecordsRequest) -> TopicPartition:
    topic = request.topics[0]
    return TopicPartition(topic.name, topic.partitions[0].partition_index)
