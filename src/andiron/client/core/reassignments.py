"""Reassignments: which brokers are to have a partition's replicas, as a request and as Kafka's file says it.

    {"version": 1, "partitions": [
      {"topic": "orders", "partition": 0, "replicas": [2, 3, 4]}        the first one is preferred as leader
    ]}

While one is under way the replicas are both the old and the new ones:

    replicas [1, 2, 3, 4]    adding [4]    removing [1]    ──▶ in the end [2, 3, 4]

It is done as soon as every added replica is in sync, and then the list of reassignments has it no more.
Cancelled, the added ones are dropped and the removed ones stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from andiron.model.errors import AndironError
from andiron.model.ids import TopicPartition
from andiron.wire.messages.list_partition_reassignments import OngoingPartitionReassignment

Assignment: TypeAlias = Mapping[TopicPartition, Sequence[int]]
VERSION = 1
ANY_DIRECTORY = "any"


class PlanError(AndironError):
    """A plan that cannot be read, or that nobody could carry out; the message says why in one line."""


class Reassignment(NamedTuple):
    """A reassignment that is under way."""

    replicas: list[int]
    adding: list[int]
    removing: list[int]

    @property
    def target(self) -> list[int]:
        """The replicas in the end."""
        return [each for each in self.replicas if each not in self.removing]

    @classmethod
    def of(cls, told: OngoingPartitionReassignment) -> Reassignment:
        """As the controller told it."""
        return cls(told.replicas, told.adding_replicas, told.removing_replicas)


class Change(NamedTuple):
    """One partition's replicas, as they are and as they are to be."""

    partition: TopicPartition
    before: list[int]
    after: list[int]

    @property
    def added(self) -> list[int]:
        """The brokers that get a copy: what is moved over the network."""
        return [each for each in self.after if each not in self.before]

    @property
    def removed(self) -> list[int]:
        return [each for each in self.before if each not in self.after]


def changes(before: Assignment, after: Assignment) -> list[Change]:
    """The partitions whose replicas differ, in their brokers or in their order, by name."""
    found = [Change(each, list(before[each]), list(after[each])) for each in sorted(after) if each in before]
    return [each for each in found if each.before != each.after]


def encode_plan(assignment: Assignment) -> str:
    """The file that Kafka's tool reads and writes."""
    rows = [
        {"topic": each.topic, "partition": each.partition, "replicas": list(assignment[each])}
        for each in sorted(assignment)
    ]
    return json.dumps({"version": VERSION, "partitions": rows})


def decode_plan(text: str) -> dict[TopicPartition, list[int]]:
    """What such a file says; PlanError where it says nothing, or something twice."""
    try:
        said = json.loads(text)
    except ValueError as error:
        raise PlanError(f"the plan is not JSON: {error}") from None
    rows = said.get("partitions") if isinstance(said, dict) else None
    if not isinstance(rows, list) or not rows:
        raise PlanError('the plan has no partitions: {"version": 1, "partitions": [{"topic": …}]}')
    if said.get("version", VERSION) != VERSION:
        raise PlanError(f"the plan has version {said['version']}; {VERSION} is known")
    plan: dict[TopicPartition, list[int]] = {}
    for row in rows:
        partition, replicas = _row(row)
        if partition in plan:
            raise PlanError(f"the plan names {partition} twice")
        plan[partition] = replicas
    return plan


def check_plan(plan: Assignment, known: Iterable[TopicPartition], brokers: Iterable[int]) -> None:
    """Refuse a plan that names what is not there."""
    there, alive = set(known), set(brokers)
    for partition in sorted(plan):
        if partition not in there:
            raise PlanError(f"the plan names {partition}, which is not there")
        for broker in plan[partition]:
            if broker not in alive:
                raise PlanError(f"the plan gives {partition} to broker {broker}, which is not in the cluster")


def _row(row: Any) -> tuple[TopicPartition, list[int]]:
    match row:
        case {"topic": str(topic), "partition": int(number), "replicas": [_, *_] as replicas}:
            partition = TopicPartition(topic, number)
        case _:
            raise PlanError(f"the plan has a row without topic, partition or replicas: {json.dumps(row)}")
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in replicas):
        raise PlanError(f"the plan's replicas of {partition} are not numbers of brokers: {replicas}")
    if len(set(replicas)) < len(replicas):
        raise PlanError(f"the plan gives {partition} to a broker twice: {replicas}")
    directories = row.get("log_dirs", [])
    if any(each != ANY_DIRECTORY for each in directories):
        raise PlanError(
            f"the plan names a log directory for {partition}; only {ANY_DIRECTORY!r} is done here"
        )
    return partition, list(replicas)
