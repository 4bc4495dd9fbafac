"""Whatever is asked of the controller, its image is the replay of its log, and what a plain model expects."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.controller.image import NO_LEADER, TOPIC, Image
from andiron.controller.image_writer import changes as changes_between
from andiron.controller.image_writer import copy_of, offset_of, records_of
from andiron.controller.records import decode_record, encode_record
from andiron.model.ids import Millis, Offset
from andiron.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.delete_topics import DeleteTopicsRequest
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from controller.cluster import Cluster
from properties import drill
from properties.effort import tries

BROKERS = 3


class Allocation(NamedTuple):
    """A broker asks for a block of producer ids."""

    broker: int


class Restart(NamedTuple):
    """A broker registers for the `run`-th time."""

    broker: int
    run: int
    fenced: bool


names = st.sampled_from(["a", "b", "c.d", "c_d", "bad name"])
config_names = st.sampled_from(["retention.ms", "segment.ms", "no.such"])
config_values = st.sampled_from(["1", "5", "x"])

creations = st.builds(
    lambda name, partitions, replicas, configs: CreateTopicsRequest(
        [
            CreatableTopic(
                name, partitions, replicas, [], [CreatableTopicConfig(*each) for each in configs.items()]
            )
        ]
    ),
    names,
    st.integers(-2, 4),
    st.integers(-1, 4),
    st.dictionaries(config_names, config_values, max_size=2),
)
deletions = st.lists(names, max_size=2).map(lambda found: DeleteTopicsRequest(topic_names=found))
growths = st.builds(
    lambda name, count: CreatePartitionsRequest([CreatePartitionsTopic(name, count, None)]),
    names,
    st.integers(0, 6),
)
changes = st.builds(
    lambda name, key, operation, value: IncrementalAlterConfigsRequest(
        [AlterConfigsResource(TOPIC, name, [AlterableConfig(key, operation, value)])]
    ),
    names,
    config_names,
    st.sampled_from([0, 1]),
    config_values,
)
allocations = st.integers(1, BROKERS).map(Allocation)
restarts = st.builds(Restart, st.integers(1, BROKERS), st.integers(2, 9), st.booleans())
requests = st.lists(st.one_of(creations, deletions, growths, changes, allocations, restarts), max_size=25)


@dataclass
class Model:
    """What the successful requests come to, kept in the plainest way."""

    topics: dict[str, tuple[int, int]] = field(default_factory=dict)  # partitions, replicas
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    blocks: int = 0
    fenced: dict[int, bool] = field(default_factory=dict)

    def note(self, request: Any, response: Any) -> None:
        match request:
            case CreateTopicsRequest():
                for topic, result in zip(request.topics, response.topics, strict=True):
                    if result.error_code == 0:
                        self.topics[topic.name] = result.num_partitions, result.replication_factor
                        self.configs[topic.name] = {each.name: each.value for each in topic.configs}
            case DeleteTopicsRequest():
                for result in response.responses:
                    if result.error_code == 0:
                        del self.topics[result.name], self.configs[result.name]
            case CreatePartitionsRequest():
                for topic, result in zip(request.topics, response.results, strict=True):
                    if result.error_code == 0:
                        self.topics[topic.name] = topic.count, self.topics[topic.name][1]
            case IncrementalAlterConfigsRequest():
                for resource, result in zip(request.resources, response.responses, strict=True):
                    if result.error_code == 0:
                        self._change(self.configs[resource.resource_name], resource.configs[0])
            case Allocation():
                assert response == range(1000 * self.blocks, 1000 * (self.blocks + 1))
                self.blocks += 1
            case Restart():
                self.fenced[request.broker] = request.fenced

    def _change(self, configs: dict[str, str], change: AlterableConfig) -> None:
        if change.config_operation == 0:
            configs[change.name] = change.value
        else:
            configs.pop(change.name, None)


def state_of(image: Image) -> tuple[Any, ...]:
    return (
        image.topics,
        image.topics_by_id,
        image.brokers,
        image.configs,
        image.features,
        image.next_producer_id,
        image.next_offset,
    )


def played(asked: list[Any]) -> tuple[Cluster, Model]:
    cluster, model = Cluster(BROKERS), Model()
    for request in asked:
        before = len(cluster.log)
        response = asked_of(cluster, request)
        if not isinstance(request, Restart) or len(cluster.log) > before:  # else it was no restart
            model.note(request, response)
    return cluster, model


def asked_of(cluster: Cluster, request: Any) -> Any:
    match request:
        case Allocation():
            return cluster.allocate_producer_ids(request.broker)
        case Restart():
            return cluster.register(request.broker, run=request.run, fenced=request.fenced)
    return cluster.run(request)


@given(requests)
@settings(max_examples=tries(150), deadline=None)
def test_an_image_is_the_replay_of_the_log(asked):
    cluster, _ = played(asked)

    fresh = Image()
    for offset, value in enumerate(cluster.log):
        fresh.replay(decode_record(value), Offset(offset))

    assert state_of(fresh) == state_of(cluster.image)


@given(requests, st.data())
@settings(max_examples=tries(150), deadline=None)
def test_an_image_that_skips_a_part_of_the_log_comes_to_the_same(asked, data):
    cluster, _ = played(asked)
    skipped = data.draw(st.integers(0, len(cluster.log)))
    behind = Image()
    for offset, value in enumerate(cluster.log[:skipped]):
        behind.replay(decode_record(value), Offset(offset))

    for record in changes_between(behind, cluster.image):
        behind.replay(decode_record(encode_record(record)), offset_of(cluster.image))

    assert behind == cluster.image == copy_of(cluster.image)


@given(requests)
@settings(max_examples=tries(150), deadline=None)
def test_an_image_is_what_a_plain_model_expects(asked):
    cluster, model = played(asked)
    image = cluster.image

    shape = {
        name: (len(topic.partitions), len(topic.partitions[0].replicas))
        for name, topic in image.topics.items()
    }
    assert shape == model.topics
    assert {name: dict(image.configs_of(TOPIC, name)) for name in image.topics} == model.configs
    assert image.next_producer_id == 1000 * model.blocks
    assert all(image.brokers[broker].fenced == fenced for broker, fenced in model.fenced.items())


@given(requests)
@settings(max_examples=tries(100), deadline=None)
def test_a_leader_is_a_live_replica_in_sync_and_epochs_only_rise(asked):
    cluster, epochs = Cluster(BROKERS), {}
    for request in asked:
        asked_of(cluster, request)
        image = cluster.image
        for topic in image.topics.values():
            for number, partition in topic.partitions.items():
                assert list(topic.partitions) == list(range(len(topic.partitions)))
                assert set(partition.isr) <= set(partition.replicas)
                assert len(set(partition.replicas)) == len(partition.replicas)
                if partition.leader != NO_LEADER:
                    assert partition.leader in partition.isr and image.is_live(partition.leader)
                else:
                    assert not any(image.is_live(replica) for replica in partition.isr)
                before = epochs.get((topic.id, number), (-1, -1))
                epochs[topic.id, number] = partition.leader_epoch, partition.partition_epoch
                assert epochs[topic.id, number] >= before


@given(requests, st.data())
@settings(max_examples=50, deadline=None)
def test_deciding_changes_nothing(asked, data):
    cluster, _ = played(asked)
    request = data.draw(st.one_of(creations, deletions, growths, changes))
    before = repr(state_of(cluster.image))

    first = cluster.controller.decide(request, Millis(0))

    assert repr(state_of(cluster.image)) == before
    assert cluster.controller.decide(request, Millis(0)) == first


# ── brokers come and go ──────────────────────────────────────────────────────────────

WEIGHTS = {
    "kill": 5, "restart": 2, "silence": 6, "return_": 9, "strike_off": 1, "enlist": 3, "in_sync": 12, "move": 3,
    "elect": 2, "require": 2, "idle": 1,
}  # fmt: skip


def drilled(seed: int, length: int = 100) -> drill.Drill:
    """A cluster to which `length` things have happened, with something written after each."""
    random, cluster = Random(seed), drill.Drill()
    everybody = range(1, drill.BROKERS + 1)
    for event in random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=length):
        broker, topic = random.choice(everybody), random.choice(drill.TOPICS)
        some = random.sample(everybody, random.randint(1, 4))
        match event:
            case "in_sync":
                cluster.in_sync(topic, random.choice([some, list(everybody)]))
            case "move":
                cluster.move(topic, random.choice([some, some, None]))
            case "elect":
                cluster.elect(topic, random.choice([0, 0, 1]))
            case "require":
                cluster.require(topic, random.randint(1, 3))
            case "idle":
                random.choice([cluster.look_after, cluster.fail_over])()
            case _:
                getattr(cluster, event)(broker)
        for name in drill.TOPICS:
            cluster.write(name)
    return cluster


@pytest.mark.parametrize("seeds", range(0, tries(200), 20))
def test_whoever_leads_holds_what_is_committed_however_brokers_come_and_go(seeds):
    for seed in range(seeds, seeds + 20):
        drilled(seed)


@pytest.mark.parametrize("seed", range(20))
def test_the_log_makes_the_same_image_again(seed):
    cluster = drilled(seed)

    fresh = Image()
    for offset, value in enumerate(cluster.log):
        fresh.replay(decode_record(value), Offset(offset))
    assert fresh == cluster.image


@pytest.mark.parametrize("seed", range(50))
def test_a_snapshot_makes_the_same_image_again(seed):
    image = drilled(seed, length=seed).image

    again = Image()
    for record in records_of(image):
        again.replay(decode_record(encode_record(record)), offset_of(image))

    assert again == image


@pytest.mark.parametrize("seed", range(20))
def test_when_all_brokers_are_back_every_partition_is_led(seed):
    cluster = drilled(seed)

    for number in range(1, drill.BROKERS + 1):
        cluster.enlist(number)
        cluster.return_(number)

    assert all(cluster.partition(topic).leader != NO_LEADER for topic in drill.TOPICS)
