"""A partition has one owner: in each generation of a classic group; at any time where the broker assigns.

classic     of one generation, no two members are told the same partition; and once members were told of a
            generation, a commit of an earlier one is refused
on the broker   from when a member is told a partition it holds it, until it is heard to own it no more, or is not in
            the group any more; meanwhile nobody else is told it. Whether it is late in giving it up makes no
            difference: it may be reading

This goes by what is said and heard, and by who is a member; not by what the coordinator thinks of owners.
"""

from __future__ import annotations

from andiron.broker.coordinators.group_coordinator import TOPIC as OFFSETS
from andiron.groups.consumer.group import ConsumerGroup
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.leaders import leading
from andiron.sim.watcher import Violation, Watcher
from andiron.wire.apis import ApiKey
from andiron.wire.consumer_protocol import read_assignment
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions

OWNER = "a partition has one owner"
FENCED = "only members of this generation commit"

Place = tuple[bytes, int]
Generation = tuple[str, int]


class PartitionsHaveOneOwner(Watcher):
    """Keeps book of who was told what."""

    def __init__(self, excuse: Excuse) -> None:
        self._excuse = excuse
        self._dealt: dict[Generation, dict[str, list[tuple[str, int]]]] = {}
        self._latest: dict[str, int] = {}  # the last generation that a group's members were told of
        self._held: dict[str, dict[str, dict[Place, None]]] = {}  # by group and member

    def heard(self, host: Host, exchange: Exchange) -> None:
        if exchange.key == ApiKey.OFFSET_COMMIT:
            exchange.notes["latest generation"] = self._latest.get(exchange.body.group_id, -1)
        elif exchange.key == ApiKey.CONSUMER_GROUP_HEARTBEAT:
            body = exchange.body
            leaves = body.member_epoch < 0  # for good, or for a while
            owned = [] if leaves else body.topic_partitions
            if owned is not None:
                self._claimed(body.group_id, body.member_id, owned)

    def said(self, host: Host, exchange: Exchange) -> None:
        if self._excuse.is_given:
            return
        if exchange.key == ApiKey.SYNC_GROUP and not exchange.response.error_code:
            self._dealt_to(exchange)
        elif exchange.key == ApiKey.OFFSET_COMMIT:
            self._check_commit(exchange)
        elif exchange.key == ApiKey.CONSUMER_GROUP_HEARTBEAT and exchange.response.assignment is not None:
            self._told(host, exchange)

    # ── generations ──────────────────────────────────────────────────────────────────

    def _dealt_to(self, exchange: Exchange) -> None:
        body = exchange.body
        topics = read_assignment(exchange.response.assignment).assigned_partitions
        share = [(one.topic, index) for one in topics for index in one.partitions]
        self._latest[body.group_id] = max(self._latest.get(body.group_id, -1), body.generation_id)
        dealt = self._dealt.setdefault((body.group_id, body.generation_id), {})
        dealt[body.group_instance_id or body.member_id] = share
        everything = [place for each in dealt.values() for place in each]
        if len(everything) != len(dict.fromkeys(everything)):
            raise Violation(OWNER, f"{body.group_id}, generation {body.generation_id}: {dealt}")

    def _check_commit(self, exchange: Exchange) -> None:
        body, latest = exchange.body, exchange.notes.get("latest generation", -1)
        taken = any(one.error_code == 0 for topic in exchange.response.topics for one in topic.partitions)
        if taken and body.generation_id_or_member_epoch < latest:
            what = f"{body.group_id}: {body.member_id} of {body.generation_id_or_member_epoch} commits in {latest}"
            raise Violation(FENCED, what)

    # ── groups that assign on the broker ─────────────────────────────────────────────

    def _claimed(self, group: str, member_id: str, owned: list[TopicPartitions]) -> None:
        held = self._held.get(group, {}).get(member_id, {})
        claimed = [(one.topic_id, index) for one in owned for index in one.partitions]
        for place in [place for place in held if place not in claimed]:
            del held[place]

    def _told(self, host: Host, exchange: Exchange) -> None:
        group = _group(host, exchange.body.group_id) if _coordinates(host, exchange.body.group_id) else None
        member_id, response = exchange.response.member_id, exchange.response
        if group is None or member_id not in group.members or self._excuse.has_revived(group.id):
            return
        everyone = self._held.setdefault(group.id, {})
        mine = everyone.setdefault(member_id, {})
        for one in response.assignment.topic_partitions:
            for index in one.partitions:
                mine[one.topic_id, index] = None
        for other, held in list(everyone.items()):
            if other not in group.members:
                del everyone[other]
                continue
            both = [place for place in held if place in mine and other != member_id]
            if both:
                raise Violation(
                    OWNER, f"{group.id}: {member_id} is told {both}, which {other} has not given up"
                )


def _coordinates(host: Host, group_id: str) -> bool:
    """Whether this node is the coordinator, and not one that was deposed and has not heard of it."""
    assert host.node is not None
    leader = leading(host.world, (OFFSETS, host.node.broker.groups.partition_of(group_id)))
    return leader is None or leader.host is host


def _group(host: Host, group_id: str) -> ConsumerGroup | None:
    assert host.node is not None
    for shard in host.node.broker.groups.shards:
        group = shard.machine.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
    return None
