"""What a seed decides before anything happens: the weather, the nodes and their settings, topics and clients.

Logs are made of tiny segments and the node's housekeeping runs every few seconds, so that a minute of
simulated time brings about rolls, retention, compaction and checkpoints by the hundred.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from andiron.broker.settings.node_settings import NodeSettings
from andiron.sim.clients.admin import TopicPlan
from andiron.sim.clients.member import Member, MemberHabits
from andiron.sim.clients.producer import Habits
from andiron.sim.clients.transactor import TransactorHabits
from andiron.sim.clustered import cluster, shape
from andiron.sim.coordinated import coordinators
from andiron.sim.moods import MOODS, SINGLE_MINDED, Mood

COORDINATED = 0.5  # of all worlds
FETCHED_AT_ONCE = ("1048576", "1048576", "1000")  # of a partition: a step takes in a part of that
RESTLESS = 0.15  # of all: their clocks are set all the time
TIMELESS = 0.3  # of the topics of the others, if there is one node
CODECS = ("uncompressed", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True, slots=True)
class Plan:
    """The dice as they fell."""

    mood: Mood
    lasts_ms: int
    properties: dict[str, str]  # of the node, or what all have in common
    checkpoint_ms: int
    topics: list[TopicPlan]
    variations: dict[str, list[str | None]]
    producers: list[Habits]
    consumers: list[list[str]]
    destructive: bool  # topics are deleted and grow
    admin_pace_ms: int
    durable: bool = False  # all topics are synced before anything is said
    flush_ms: int = 5  # that an fsync takes, at most
    transactors: list[TransactorHabits] = field(default_factory=list)
    members: list[tuple[type[Member], MemberHabits]] = field(default_factory=list)
    # The properties of each, where there are several
    nodes: list[dict[str, str]] = field(default_factory=list)
    operator_pace_ms: int = 0  # of one who moves partitions; there is none if it is 0
    stranger_pace_ms: int = 0  # of one who speaks as a controller and is none; there is none if it is 0
    changes_voters: bool = False  # who votes is for the operator to say
    skews: list[int] = field(default_factory=lambda: [0])  # by how much their clocks are off, in ms
    clocks_set_ms: int = 0  # so often somebody sets one of them, whatever the weather; nobody does if it is 0

    @property
    def settings(self) -> list[NodeSettings]:
        """Those of each node."""
        return [NodeSettings.load(each) for each in self.nodes or [self.properties]]


def make_plan(seed: int, chance: random.Random, nodes: int | None = None, mood: str | None = None) -> Plan:
    """Throw the dice, or put one of the single-minded moods in the place of the one that they gave."""
    plan = _thrown(seed, chance, nodes)
    return plan if mood is None else replace(plan, mood=SINGLE_MINDED[mood])


def _thrown(seed: int, chance: random.Random, nodes: int | None) -> Plan:
    """Throw the dice: for a world of logs, and then, with other ones, whether it is to be one of coordinators, whether
    its clocks are left alone, and whether it is one of several nodes; or of as many as are asked for."""
    plan, dice = _plan_of_logs(chance), random.Random(f"{seed}/groups")
    coordinated = dice.random() < COORDINATED
    if coordinated:
        plan = replace(plan, **coordinators(plan.properties, dice))
    dice = random.Random(f"{seed}/clocks")
    if dice.random() < RESTLESS:
        plan = replace(plan, clocks_set_ms=dice.choice([200, 1_000]))
    count, dice = shape(seed, nodes)
    if count == 1:
        return plan if coordinated else _with_timeless_topics(plan, random.Random(f"{seed}/timeless"))
    shares = {"replica.fetch.max.bytes": random.Random(f"{seed}/steps").choice(FETCHED_AT_ONCE)}
    return replace(plan, **cluster(count, replace(plan, properties=plan.properties | shares), dice))


def _plan_of_logs(chance: random.Random) -> Plan:
    topics = [_topic(chance, f"topic-{number}") for number in range(chance.randint(1, 3))]
    checkpoint_ms = chance.choice([500, 3_000, 15_000])
    destructive = chance.random() < 0.3
    return Plan(
        mood=chance.choices(MOODS, weights=(1, 2, 3, 4, 4))[0],
        lasts_ms=chance.choice([15_000, 40_000, 90_000]),
        properties=_properties(chance, checkpoint_ms),
        checkpoint_ms=checkpoint_ms,
        topics=topics,
        variations=_variations(chance),
        producers=[_producer(chance, topics) for _ in range(chance.randint(1, 3))],
        consumers=[
            [topic.name for topic in chance.sample(topics, chance.randint(1, len(topics)))]
            for _ in range(chance.randint(1, 2))
        ],
        destructive=destructive,
        admin_pace_ms=chance.choice([2_000, 8_000, 30_000]),
    )


def _properties(chance: random.Random, checkpoint_ms: int) -> dict[str, str]:
    directories = chance.choice(["/data", "/data", "/data/a,/data/b"])
    return {
        "node.id": "1",
        "process.roles": "broker,controller",
        "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": directories,
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "2",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "2",
        "log.retention.check.interval.ms": str(chance.choice([1_000, 5_000])),
        "log.cleaner.backoff.ms": str(chance.choice([300, 2_000])),
        "log.cleaner.dedupe.buffer.size": str(1 << 20),
        "log.flush.offset.checkpoint.interval.ms": str(checkpoint_ms),
        "log.flush.start.offset.checkpoint.interval.ms": str(checkpoint_ms),
        "replica.high.watermark.checkpoint.interval.ms": str(checkpoint_ms),
    }


def _topic(chance: random.Random, name: str) -> TopicPlan:
    configs = {
        "internal.segment.bytes": str(chance.choice([1_500, 4_000, 20_000])),
        "index.interval.bytes": str(chance.choice([0, 100, 500])),
        "file.delete.delay.ms": str(chance.choice([0, 500, 5_000])),
    }
    if chance.random() < 0.5:
        configs["flush.messages"] = "1"
    kind = chance.choice(["kept", "kept", "compacted", "compacted", "brief"])
    if kind == "compacted":
        configs |= {
            "cleanup.policy": chance.choice(["compact", "compact", "compact,delete"]),
            "min.cleanable.dirty.ratio": chance.choice(["0", "0.3"]),
            "delete.retention.ms": str(chance.choice([1_000, 20_000, 100_000])),
        }
    if kind == "brief" or "delete" in configs.get("cleanup.policy", ""):
        configs |= chance.choice([{"retention.ms": "15000"}, {"retention.bytes": "6000"}])
    if chance.random() < 0.2:
        configs["message.timestamp.type"] = "LogAppendTime"
    if chance.random() < 0.2:
        configs["compression.type"] = chance.choice(CODECS)
    if chance.random() < 0.2:
        configs["segment.ms"] = "5000"
    return TopicPlan(name, chance.randint(1, 3), configs)


def _variations(chance: random.Random) -> dict[str, list[str | None]]:
    """Settings that the administrator plays with; None takes one back."""
    everything: dict[str, list[str | None]] = {
        "retention.ms": ["5000", "60000", "-1", None],
        "retention.bytes": ["3000", "-1", None],
        "internal.segment.bytes": ["1500", "5000"],
        "segment.ms": ["2000", None],
        "index.interval.bytes": ["0", "300"],
        "flush.messages": ["1", "10", None],
        "flush.ms": ["100", None],
        "compression.type": ["zstd", "producer"],
        "message.timestamp.type": ["LogAppendTime", "CreateTime"],
        "delete.retention.ms": ["2000", "50000"],
        "min.cleanable.dirty.ratio": ["0", "0.5"],
    }
    return {name: everything[name] for name in chance.sample(list(everything), chance.randint(1, 5))}


def _producer(chance: random.Random, topics: list[TopicPlan]) -> Habits:
    chosen = chance.sample(topics, chance.randint(1, min(2, len(topics))))
    keyed = any("compact" in topic.configs.get("cleanup.policy", "") for topic in chosen)
    idempotent = chance.random() < 0.75
    return Habits(
        topics=[topic.name for topic in chosen],
        acks=chance.choice([1, -1, -1] if idempotent else [0, 1, -1]),
        idempotent=idempotent,
        batches=chance.choice([30, 80, 200]),
        pace_ms=chance.choice([30, 200, 800]),
        codec=chance.choice([0, 0, 0, 1, 2, 3, 4]),
        keys=chance.choice([3, 20]) if keyed else 0,
        tombstones=0.2,
    )


def _with_timeless_topics(plan: Plan, dice: random.Random) -> Plan:
    """The same, where some topics get records without a timestamp."""
    timeless = [topic.name for topic in plan.topics if dice.random() < TIMELESS]
    return replace(plan, producers=[replace(habits, timeless=timeless) for habits in plan.producers])
