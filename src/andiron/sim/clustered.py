"""What a seed decides of the cluster: how many nodes, who does what, and how often each record is kept.

    one node     as it was without this module
    combined     1 2 3      each a broker and a controller
    growing      1 2 3      the same, but 1 votes alone until an operator lets others vote, or takes its vote away
    apart        1 2 3      brokers        101 102 103   controllers

Sessions, lags and elections are short, so that leaders change within seconds; so is the metadata log, and nodes that
were away come back by snapshots. Topics have one to three replicas, and
may ask for two in sync; a third of them is synced before anything is said, and there not even the loss of all
power is an excuse (invariants/excuse.py). Clocks are off by seconds from the beginning.

The dice are others than those of plan.py and coordinated.py: a world of one node is the same with or without this.
"""

from __future__ import annotations

import random
from typing import Any

from andiron.broker.coordinators.internal_topics import INTERNAL
from andiron.sim.clients.admin import TopicPlan
from andiron.sim.moods import CLUSTER_MOODS

NODES: tuple[int, ...] = (1, 1, 1, 3, 3, 5)  # how many brokers a world may have, drawn from evenly
FIRST_CONTROLLER = 101
CLUSTER_ID = "a-simulated-cluster-00"

Properties = dict[str, str]


def shape(seed: int, nodes: int | None = None) -> tuple[int, random.Random]:
    """How many brokers there are to be, and the dice for the rest."""
    drawn = random.Random(f"{seed}/nodes").choice(NODES)
    return drawn if nodes is None else nodes, random.Random(f"{seed}/cluster")


def cluster(nodes: int, plan: Any, dice: random.Random) -> dict[str, Any]:
    """The fields of a plan that differ where there are several nodes."""
    apart = dice.random() < 0.25
    copies = min(3, nodes)
    weights = (1, 2, 2, 3, 3, 3, 3)
    common = plan.properties | _properties(dice, copies)
    grows = not apart and dice.random() < 0.3
    together = _growing if grows else _combined
    return {
        "mood": dice.choices(CLUSTER_MOODS, weights=weights)[0],
        "properties": common,
        "nodes": together(common, nodes) if not apart else _apart(common, nodes),
        "operator_pace_ms": dice.choice([1_000, 5_000]) if grows or dice.random() < 0.4 else 0,
        "changes_voters": grows,
        "topics": [_replicated(topic, dice, copies) for topic in plan.topics],
        "skews": [dice.choice([0, 0, 0, -40_000, -500, 500, 40_000]) for _ in range(2 * nodes)],
        "durable": plan.durable,
        "stranger_pace_ms": dice.choice([0, 0, 0, 5_000]),
    }


def _properties(dice: random.Random, copies: int) -> Properties:
    in_sync = str(min(copies, 2))
    return {
        "offsets.topic.replication.factor": str(copies),
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": in_sync,
        "min.insync.replicas": dice.choice(["1", in_sync, in_sync]),
        "broker.heartbeat.interval.ms": str(dice.choice([200, 500])),
        "broker.session.timeout.ms": str(dice.choice([1_500, 3_000])),
        "replica.lag.time.max.ms": str(dice.choice([1_000, 3_000, 10_000])),
        "replica.fetch.wait.max.ms": str(dice.choice([200, 500])),
        "replica.socket.timeout.ms": str(dice.choice([1_000, 3_000])),
        "controller.quorum.election.timeout.ms": str(dice.choice([300, 1_000])),
        "controller.quorum.fetch.timeout.ms": str(dice.choice([600, 2_000])),
        "leader.imbalance.check.interval.seconds": str(dice.choice([5, 300])),
        "metadata.log.max.record.bytes.between.snapshots": str(dice.choice([1_000, 5_000, 50_000])),
        "metadata.max.retention.bytes": str(dice.choice([0, 10_000, 100_000])),
        "controller.quorum.fetch.snapshot.max.bytes": str(dice.choice([500, 5_000])),
    }


def _replicated(topic: TopicPlan, dice: random.Random, copies: int) -> TopicPlan:
    replicas = copies if topic.name in INTERNAL else dice.choice([1, 2, copies, copies, copies])
    configs = dict(topic.configs)
    if replicas > 1 and topic.name not in INTERNAL and dice.random() < 0.7:
        configs["min.insync.replicas"] = str(dice.choice([1, 2, 2]))
    return topic._replace(replicas=min(replicas, copies), configs=configs)


# ── nodes ────────────────────────────────────────────────────────────────────────────


def _combined(common: Properties, count: int) -> list[Properties]:
    numbers = list(range(1, count + 1))
    return [
        common | _identity(number, "broker,controller", ["PLAINTEXT", "CONTROLLER"], numbers)
        for number in numbers
    ]


def _growing(common: Properties, count: int) -> list[Properties]:
    """The first votes by itself; the others ask around for a leader, until somebody makes them voters."""
    found = []
    for properties in _combined(common, count):
        number = int(properties["node.id"])
        others = range(1, count + 1) if number > 1 else [1]
        del properties["controller.quorum.voters"]
        servers = ",".join(f"node-{each}:9093" for each in others)
        found.append(properties | {"controller.quorum.bootstrap.servers": servers})
    return found


def _apart(common: Properties, count: int) -> list[Properties]:
    voters = list(range(FIRST_CONTROLLER, FIRST_CONTROLLER + 3))
    brokers = [_identity(number, "broker", ["PLAINTEXT"], voters) for number in range(1, count + 1)]
    controllers = [_identity(number, "controller", ["CONTROLLER"], voters) for number in voters]
    return [common | each for each in (*controllers, *brokers)]


def _identity(number: int, roles: str, listeners: list[str], voters: list[int]) -> Properties:
    ports = {"PLAINTEXT": 9092, "CONTROLLER": 9093}
    return {
        "node.id": str(number),
        "process.roles": roles,
        "listeners": ",".join(f"{name}://node-{number}:{ports[name]}" for name in listeners),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": ",".join(f"{each}@node-{each}:9093" for each in voters),
    }
