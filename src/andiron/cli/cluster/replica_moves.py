"""Reassignments: started, followed, throttled and cancelled. What `reassign` and `drain` share.

    plan ──▶ throttle, if asked ──▶ begin ──▶ follow: what is left, and how much of it is copied ──▶ throttle off

How much is copied is told by the brokers' log directories: the bytes that a new replica has, of those that its
leader has. Where the leader does not tell, that is not known; a new replica that does not tell counts for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from andiron.cli.failure import Failure
from andiron.cli.output import columns, human_bytes, plural, remark
from andiron.cli.screen import Screen
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.broker_survey import sizes_on
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin, Refusals
from andiron.client.core.descriptions import Resource, ResourceType
from andiron.client.core.metadata import Topic
from andiron.client.core.reassignments import Change, Reassignment
from andiron.client.core.throttles import RATES, REPLICAS, rates, throttled_brokers, throttled_replicas
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition

LOOK_S = 0.5
REFUSALS_SHOWN = 10
CHANGES = ("TOPIC", "PARTITION", "NOW", "AFTER", "COPY TO", "DROP FROM")


class Progress(NamedTuple):
    """How far a partition's reassignment is, in bytes: copied, and the size of the leader's log."""

    copied: int
    total: int

    @property
    def percent(self) -> int:
        return 100 if self.copied >= self.total else 100 * self.copied // self.total


class ReplicaMoves:
    """The reassignments of one cluster."""

    def __init__(self, client: Client, screen: Screen | None = None) -> None:
        self._client = client
        self._cluster, self._admin = ClusterAdmin(client), Admin(client)
        self._screen = screen or Screen()

    def begin(self, moves: Sequence[Change], throttle: int | None) -> None:
        """Start all reassignments, after their throttle is set; nothing is undone where some are refused."""
        if throttle is not None:
            self.throttle(moves, throttle)
        refused = self._cluster.reassign({each.partition: each.after for each in moves})
        check_refusals(refused, len(moves), "moved")

    def follow(self, partitions: Iterable[TopicPartition]) -> None:
        """Wait until these partitions have no reassignment under way, and show how far they are."""
        wanted = list(partitions)
        try:
            while left := self._cluster.reassignments(wanted):
                self._screen.status(self._describe(len(wanted), left))
                time.sleep(LOOK_S)
        except KeyboardInterrupt:
            self._screen.clear()
            remark("the moves go on: `andiron cluster reassign --status` shows them, --cancel calls them off")
            raise
        self._screen.clear()

    def progress(self, moves: Mapping[TopicPartition, Reassignment]) -> dict[TopicPartition, Progress]:
        """How much of each reassignment is copied; those whose leader does not tell its log's size are missing."""
        topics = {name: self._client.topic(name) for name in {each.topic for each in moves}}
        leaders = {each: topics[each.topic].partitions[each.partition].leader for each in moves}
        sizes = self._sizes(moves, leaders)
        found: dict[TopicPartition, Progress] = {}
        for partition, move in moves.items():
            total = sizes.get((leaders[partition], partition))
            if total is not None:
                copied = [min(total, sizes.get((each, partition), 0)) for each in move.adding]
                found[partition] = Progress(sum(copied), total * len(copied))
        return found

    # ── throttles ────────────────────────────────────────────────────────────────────

    def throttle(self, moves: Sequence[Change], bytes_per_second: int) -> None:
        """Set replication throttles for these reassignments, on every broker that takes part (KIP-73)."""
        try:
            for topic, configs in throttled_replicas(moves).items():
                self._admin.alter_configs(Resource(ResourceType.TOPIC, topic), configs)
            for broker in throttled_brokers(moves):
                self._admin.alter_configs(Resource(ResourceType.BROKER, str(broker)), rates(bytes_per_second))
        except ProtocolError as error:
            if error.code is not ErrorCode.INVALID_CONFIG:
                raise
            complaint = "these brokers have no throttle for replicas; leave --throttle out. Nothing was moved"
            raise Failure(complaint) from error

    def unthrottle(self, topics: Iterable[str]) -> None:
        """Remove replication throttles: of these topics, and of every broker."""
        for topic in topics:
            self._drop(Resource(ResourceType.TOPIC, topic), REPLICAS)
        for broker in self._cluster.describe_cluster().racks():
            self._drop(Resource(ResourceType.BROKER, str(broker)), RATES)

    def _drop(self, resource: Resource, names: Sequence[str]) -> None:
        """Delete those of these settings that the resource has, which mostly are none."""
        there = [
            each.name for each in self._admin.configs(resource) if each.name in names and not each.is_default
        ]
        if there:
            self._admin.alter_configs(resource, {}, there)

    # ── progress ─────────────────────────────────────────────────────────────────────

    def _describe(self, count: int, left: Mapping[TopicPartition, Reassignment]) -> str:
        told = self.progress(left).values()
        copied, total = sum(each.copied for each in told), sum(each.total for each in told)
        text = f"{count - len(left)} of {plural(count, 'partition')} done"
        return f"{text}, {human_bytes(copied)} of {human_bytes(total)} copied" if total else text

    def _sizes(
        self, moves: Mapping[TopicPartition, Reassignment], leaders: Mapping[TopicPartition, int]
    ) -> dict[tuple[int, TopicPartition], int]:
        asked: dict[int, list[TopicPartition]] = {}
        for partition, move in moves.items():
            for broker in {*move.adding, leaders[partition]}:
                asked.setdefault(broker, []).append(partition)
        return sizes_on(self._client, asked)


def replicas_of(topics: Iterable[Topic]) -> dict[TopicPartition, list[int]]:
    """The replicas of every partition, as the cluster has them."""
    return {
        TopicPartition(topic.name, each.number): each.replicas
        for topic in topics
        for each in topic.partitions
    }


def check_refusals(refused: Refusals, count: int, done: str) -> None:
    """Fail with one line if reassignments were refused: how many and why, after the first few of them."""
    if not refused:
        return
    for error in list(refused.values())[:REFUSALS_SHOWN]:
        remark(f"  {error.detail}")
    first = next(iter(refused.values()))
    hint = (
        "; wait for it (`andiron cluster reassign --status`) or call it off (--cancel)"
        if first.code is ErrorCode.REASSIGNMENT_IN_PROGRESS
        else ""
    )
    raise Failure(f"{len(refused)} of {plural(count, 'partition')} could not be {done}{hint}")


def refusals_as_json(refused: Refusals) -> list[dict[str, Any]]:
    """All refused reassignments as JSON."""
    return [
        {"topic": topic, "partition": number, "error": error.code.name, "reason": error.detail}
        for (topic, number), error in refused.items()
    ]


def table(moves: Iterable[Change]) -> str:
    """Replicas now and after, partition by partition; where none is copied or dropped, another one is preferred."""
    rows = [
        (
            each.partition.topic,
            each.partition.partition,
            _numbers(each.before),
            _numbers(each.after),
            _numbers(each.added) or None,
            _numbers(each.removed) or None,
        )
        for each in moves
    ]
    return columns(CHANGES, rows)


def moves_as_json(moves: Iterable[Change]) -> list[dict[str, Any]]:
    """The replica changes as JSON."""
    return [
        {"topic": topic, "partition": number, "before": before, "after": after}
        for (topic, number), before, after in moves
    ]


def summary(moves: Sequence[Change]) -> str:
    """How many partitions change, and how many replicas are copied, in a line."""
    copies = sum(len(each.added) for each in moves)
    return f"{plural(len(moves), 'partition')} to change, {plural(copies, 'replica')} to copy"


def _numbers(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))
