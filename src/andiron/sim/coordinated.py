"""What a seed decides for a world of coordinators: groups and transactions in place of crowds of producers.

    input ──▶ transactors, some sharing an id ──▶ output
      └────── members of groups, who come and go and commit offsets

Timeouts are short, so that they matter within a minute. The coordinators' own topics are made by the
administrator, with segments of a few records, so that they are rolled and compacted all the time; in half of the
worlds every log is synced before anything is said, and there a power loss is no excuse (invariants/excuse.py).

The dice are others than those of plan.py: a world of logs is the same with or without what is decided here.
"""

from __future__ import annotations

import random
from typing import Any

from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.model.ids import TopicPartition
from andiron.sim.clients.admin import TopicPlan
from andiron.sim.clients.classic_member import ClassicMember
from andiron.sim.clients.consumer_member import ConsumerMember
from andiron.sim.clients.member import Member, MemberHabits
from andiron.sim.clients.producer import Habits
from andiron.sim.clients.transactor import TransactorHabits
from andiron.sim.moods import MOODS

INPUT, OUTPUT = "input", "output"
PARTITIONS = 2  # of the coordinators' topics


def coordinators(properties: dict[str, str], dice: random.Random) -> dict[str, Any]:
    """The fields of a plan that differ in such a world."""
    durable = dice.random() < 0.5
    topics = _topics(dice, {"flush.messages": "1"} if durable else {})
    mood = dice.choices(MOODS, weights=(1, 2, 3, 4, 4))[0]
    return {
        "mood": mood._replace(rot=0.0),
        "lasts_ms": dice.choice([15_000, 30_000, 60_000]),
        "properties": properties | _properties(dice),
        "topics": topics,
        "variations": {"segment.ms": ["3000", None], "index.interval.bytes": ["0", "300"]},
        "producers": [_feeder(dice)],
        "consumers": [[OUTPUT]],
        "destructive": False,
        "admin_pace_ms": 10_000,
        "durable": durable,
        "flush_ms": dice.choice([5, 50, 300]),
        "transactors": _transactors(dice, topics),
        "members": _members(dice),
    }


def _properties(dice: random.Random) -> dict[str, str]:
    return {
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": str(dice.choice([200, 2_000])),
        "transaction.two.phase.commit.enable": "true",
        "group.initial.rebalance.delay.ms": str(dice.choice([0, 500])),
        "group.min.session.timeout.ms": "1000",
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.session.timeout.ms": str(dice.choice([2_000, 5_000])),
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": "500",
    }


def _topics(dice: random.Random, everywhere: dict[str, str]) -> list[TopicPlan]:
    def plan(name: str, partitions: int, *, compacted: bool) -> TopicPlan:
        configs = everywhere | {
            "internal.segment.bytes": str(dice.choice([1_000, 4_000, 100_000])),
            "index.interval.bytes": str(dice.choice([0, 500])),
            "file.delete.delay.ms": "500",
        }
        if compacted:
            configs |= {
                "cleanup.policy": "compact",
                "min.cleanable.dirty.ratio": dice.choice(["0", "0.3"]),
                "delete.retention.ms": str(dice.choice([1_000, 20_000])),
            }
        return TopicPlan(name, partitions, configs)

    return [
        *(plan(name, PARTITIONS, compacted=True) for name in sorted(INTERNAL)),
        plan(INPUT, dice.randint(1, 3), compacted=False),
        plan(OUTPUT, dice.randint(1, 3), compacted=dice.random() < 0.4),
    ]


def _feeder(dice: random.Random) -> Habits:
    return Habits([INPUT], acks=-1, idempotent=True, batches=dice.choice([10, 40]), pace_ms=800)


def _members(dice: random.Random) -> list[tuple[type[Member], MemberHabits]]:
    """A group or two, of either protocol, some of whose members are static; some have a twin that is, too."""
    found: list[tuple[type[Member], MemberHabits]] = []
    for number in range(dice.randint(0, 2)):
        protocol: type[Member] = dice.choice([ClassicMember, ConsumerMember])
        for member in range(dice.randint(1, 3)):
            habits = MemberHabits(
                group=f"crowd-{number}",
                topic=INPUT,
                instance_id=f"seat-{member}" if dice.random() < 0.4 else None,
                pace_ms=dice.choice([100, 400]),
                session_ms=dice.choice([1_500, 4_000]),
                rebalance_ms=dice.choice([1_000, 3_000]),
                fragility=dice.choice([0.0, 0.02, 0.05]),
                stays=dice.choice([5, 40, 1_000]),
            )
            twins = 2 if habits.instance_id is not None and dice.random() < 0.3 else 1
            found += [(protocol, habits)] * twins
    return found


def _transactors(dice: random.Random, topics: list[TopicPlan]) -> list[TransactorHabits]:
    """One or two pursuits, each with one partition to read from and one or two who pursue it."""
    partitions = next(topic.partitions for topic in topics if topic.name == INPUT)
    found = []
    for number in range(min(partitions, dice.randint(0, 2))):
        bumping = dice.random() < 0.7
        habits = TransactorHabits(
            transactional_id=f"pursuit-{number}",
            group=f"pursuers-{number}",
            place=TopicPartition(INPUT, number),
            topics=[OUTPUT],
            transactions=dice.choice([20, 60]),
            pace_ms=dice.choice([50, 300, 1_000]),
            timeout_ms=dice.choice([1_000, 4_000]),
            bumping=bumping,
            two_phase=bumping and dice.random() < 0.3,
            fragility=dice.choice([0.0, 0.02, 0.05]),
            haunted=dice.choice([0.0, 0.1, 0.3]),
        )
        found += [habits] * dice.randint(1, 2)
    return found
