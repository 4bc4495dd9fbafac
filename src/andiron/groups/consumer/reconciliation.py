"""Reconciliation (KIP-848): how a member comes to hold what the target gives it, without two ever holding the same.

                      ┌──────────────── another target ────────────────┐
                      ▼                                                │
                   UNREVOKED_PARTITIONS ── gave up what it should ──▶ UNRELEASED_PARTITIONS ─┴▶ STABLE
                what it must give up                    it is at the target's epoch,
                is named to it                          and lacks what others have not given up yet

First the member is told to give up what the target does not leave it. It stays at its epoch until a heartbeat says
what it owns and none of that is in it. Then it takes the target's epoch, with those of its new partitions that are
free; the rest follow, heartbeat by heartbeat, as others give them up. What it keeps it never lets go of, and may go on
reading all the time.

The law: a partition is handed out only if nobody holds it. So it has one owner at any time, however late members are.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from andiron.groups.assignors.spec import Partitions
from andiron.groups.consumer.member import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    Member,
    PartitionEpochs,
)
from andiron.model.errors import ErrorCode
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions


class Target(NamedTuple):
    """A member's target assignment, and its assignment epoch."""

    epoch: int
    partitions: Partitions


class Heartbeat(NamedTuple):
    """What reconciling depends on beside the current and the target assignment of the member that sends it."""

    is_free: Callable[[bytes, int], bool]  # whether nobody holds a partition
    subscribed: Container[bytes]  # the topics that the member reads
    subscription_changed: bool
    owned: Iterable[TopicPartitions] | None  # the owned partitions of its heartbeat; None if it names none


def reconcile(member: Member, target: Target, heartbeat: Heartbeat) -> Member:
    """The member as it is after this heartbeat; the same one if nothing has happened to it."""
    if member.is_reconciled_to(target.epoch) and not heartbeat.subscription_changed:
        return member
    if member.state == UNREVOKED_PARTITIONS:
        if _owns_any(heartbeat.owned, member.revoking):
            return _let_go_of_unsubscribed(member, heartbeat) if heartbeat.subscription_changed else member
        return _step(member, target, heartbeat)
    if member.state == UNRELEASED_PARTITIONS:
        return _step(member, target, heartbeat)
    if member.state == STABLE:
        if member.epoch == target.epoch:
            return _let_go_of_unsubscribed(member, heartbeat)
        return _step(member, target, heartbeat)
    # A member state written by a newer broker, which we do not know.
    if heartbeat.owned is None or any(topic.partitions for topic in heartbeat.owned):
        raise ErrorCode.FENCED_MEMBER_EPOCH.error(
            "the member is in an unknown state: let go of all and rejoin"
        )
    return _step(member._replace(epoch=target.epoch), target, heartbeat)


def _step(member: Member, target: Target, heartbeat: Heartbeat) -> Member:
    """Compare the member's current assignment with its target: what to revoke, or what to assign."""
    kept: dict[bytes, dict[int, int]] = {}
    dropped: dict[bytes, dict[int, int]] = {}
    for topic, epochs in member.assigned.items():
        wanted = frozenset(target.partitions.get(topic, ()) if topic in heartbeat.subscribed else ())
        for partition, epoch in epochs.items():
            (kept if partition in wanted else dropped).setdefault(topic, {})[partition] = epoch
    if dropped and _owns_any(heartbeat.owned, dropped):
        return member.at(member.epoch, UNREVOKED_PARTITIONS, kept, dropped)
    waits = _take_free(member, target, heartbeat, kept)
    return member.at(target.epoch, UNRELEASED_PARTITIONS if waits else STABLE, kept)


def _take_free(
    member: Member, target: Target, heartbeat: Heartbeat, kept: dict[bytes, dict[int, int]]
) -> bool:
    """Add what is new and free to what is kept; whether something is not free."""
    waits = False
    for topic, wanted in target.partitions.items():
        if topic not in heartbeat.subscribed:
            continue
        had = kept.get(topic, {})
        missing = [partition for partition in wanted if partition not in had]
        own = member.revoking.get(topic, {})  # what it was giving up, and has, may come back to it
        free = [partition for partition in missing if partition in own or heartbeat.is_free(topic, partition)]
        waits = waits or len(free) < len(missing)
        if free:
            kept[topic] = {**had, **dict.fromkeys(free, target.epoch)}
    return waits


def _let_go_of_unsubscribed(member: Member, heartbeat: Heartbeat) -> Member:
    """The member has said that it reads other topics: it gives up those it does not read, target or not."""
    gone = {topic: epochs for topic, epochs in member.assigned.items() if topic not in heartbeat.subscribed}
    if not gone:
        return member
    kept = {topic: epochs for topic, epochs in member.assigned.items() if topic not in gone}
    revoking: PartitionEpochs = {**member.revoking, **_merged(gone, member.revoking)}
    if _owns_any(heartbeat.owned, revoking):
        return member.at(member.epoch, UNREVOKED_PARTITIONS, kept, revoking)
    return member.at(member.epoch, member.state, kept, member.revoking)


def _merged(gone: PartitionEpochs, revoking: PartitionEpochs) -> PartitionEpochs:
    return {topic: {**revoking.get(topic, {}), **epochs} for topic, epochs in gone.items()}


def _owns_any(owned: Iterable[TopicPartitions] | None, held: PartitionEpochs) -> bool:
    """Whether the member still owns some of these partitions; it does if its heartbeat names none."""
    if owned is None:
        return True
    return any(
        partition in held[topic.topic_id]
        for topic in owned
        if topic.topic_id in held
        for partition in topic.partitions
    )
