"""The group coordinator of one partition of `__consumer_offsets`: routes a request to the part that decides it.

    JoinGroup, SyncGroup, Heartbeat, LeaveGroup ──▶ classic/protocol.py, or the classic side of consumer/protocol.py
    ConsumerGroupHeartbeat ───────────────────────▶ consumer/protocol.py
    OffsetCommit, TxnOffsetCommit ────────────────▶ offsets/commits.py         OffsetFetch ──▶ offsets/fetches.py
    OffsetDelete, DeleteGroups ───────────────────▶ offsets/deletions.py       ListGroups ───▶ listing.py
    time ─────────────────────────────────────────▶ the part whose deadline has come; offsets/expiry.py for offsets

A group has one protocol at a time, and the classes of both are in one table (`GroupContext.groups`). Its offsets do not
care: they are kept by its name (offsets/table.py), stay when it changes protocol, and may be all there is of it.

Share and streams groups are not served. Those that Kafka made are known by name (unserved_group.py), and keep it.

Records are replayed by the part whose they are.

Read next: classic/protocol.py, consumer/protocol.py, offsets/table.py; this machine is run by
broker/coordinators/group_coordinator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from andiron.groups import listing
from andiron.groups.classic.protocol import ClassicProtocol
from andiron.groups.consumer.protocol import ConsumerProtocol
from andiron.groups.group import CONSUMER, Group, GroupContext, TimerKey
from andiron.groups.group_memory import GroupMemory
from andiron.groups.offsets import commits, deletions
from andiron.groups.offsets import fetches as offset_fetches
from andiron.groups.offsets.expiry import Expiry
from andiron.groups.offsets.records import OffsetCommitKey
from andiron.groups.offsets.table import Offsets
from andiron.groups.rebalances import Rebalances
from andiron.groups.records import (
    PARTS,
    GroupMetadataKey,
    GroupRecord,
    Replayed,
    TransactionEnded,
    UnservedGroupKey,
)
from andiron.groups.settings import GroupSettings
from andiron.groups.sizes import BATCH_MAX, check_fits
from andiron.groups.topics import Topics
from andiron.groups.unserved_group import UnservedGroup
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, Offset
from andiron.model.machine import CoordinatorRequest, Decision, LogLoaded, TimePassed
from andiron.model.timers import Timers
from andiron.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.delete_groups import DeleteGroupsRequest
from andiron.wire.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest
from andiron.wire.messages.leave_group import LeaveGroupRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from andiron.wire.messages.offset_commit import OffsetCommitRequest
from andiron.wire.messages.offset_delete import OffsetDeleteRequest
from andiron.wire.messages.offset_fetch import OffsetFetchRequest
from andiron.wire.messages.sync_group import SyncGroupRequest
from andiron.wire.messages.txn_offset_commit import TxnOffsetCommitRequest

Decider = Callable[[CoordinatorRequest, Millis], Decision[GroupRecord]]


class TopicsDeleted(NamedTuple):
    """These topics are gone, and the view of the topics no longer has them. Answered with None."""

    names: list[str]


class GroupShard:
    """The deciding machine whose state is one partition of the offsets topic."""

    def __init__(
        self, settings: GroupSettings, topics: Topics, chance: Chance,
        configs: Callable[[str], Mapping[str, str]], batch_max: Callable[[], int] = lambda: BATCH_MAX,
        held_by_all: Callable[[], int] | None = None,
    ) -> None:  # fmt: skip
        """`held_by_all` says how much memory the groups of this and all other shards of the node take."""
        self._context = GroupContext(settings, topics, chance, configs, batch_max)
        self._offsets = Offsets()
        self._classic, self._consumer = ClassicProtocol(self._context), ConsumerProtocol(self._context)
        self._expiry = Expiry(self._context, self._offsets)
        self._deciders = self._routes()
        self._held_by_all = held_by_all or (lambda: self.bytes_held)

    def decide(self, request: Any, now: Millis) -> Decision[GroupRecord]:
        """The response and the records that follow from a request; raises if it is refused."""
        if isinstance(request, CoordinatorRequest):
            decider = self._deciders.get(type(request.body))
            if decider is None:
                raise ErrorCode.INVALID_REQUEST.error(f"{type(request.body).__name__} is not for a group")
            self._check_served(request.body)
            check_fits(request.body, self._context.batch_max())
            self._context.memory.check(request.body, self._held_by_all())
            decision = decider(request, now)
            self._context.memory.note(getattr(request.body, "group_id", ""))
            return decision
        if isinstance(request, TimePassed):
            return self._time_passed(now)
        if isinstance(request, TopicsDeleted):
            return self._expiry.topics_deleted(request.names, now)
        assert isinstance(request, LogLoaded)
        return self._loaded(now)

    def replay(self, record: Replayed, offset: Offset) -> None:
        """Replay a record that stands in the log at `offset`."""
        if isinstance(record, TransactionEnded):
            self._offsets.transaction_ended(record)
            return
        kind = type(record.key)
        if kind is OffsetCommitKey:
            self._offsets.replay(record, offset)
        elif kind is GroupMetadataKey:
            self._classic.replay(record)
            self._context.memory.note(record.key.group)
        elif kind is UnservedGroupKey:
            self._replay_kept(record.key, record.value)
            self._context.memory.note(record.key.group_id)
        else:
            self._consumer.replay(record)
            self._context.memory.note(record.key.group_id)

    def _replay_kept(self, key: UnservedGroupKey, value: object | None) -> None:
        groups, part = self._context.groups, PARTS[key.type]
        group = groups.get(key.group_id)
        if not isinstance(group, UnservedGroup) or group.kind != part.kind:
            if value is None:
                return  # it is gone, or has become another kind of group
            group = groups[key.group_id] = UnservedGroup(key.group_id, part.kind)
        group.replay(key, value)
        if value is None and part.is_group:
            del groups[key.group_id]

    def _check_served(self, request: Any) -> None:
        group = self._context.groups.get(getattr(request, "group_id", ""))
        refusal = group.refusal(request) if isinstance(group, UnservedGroup) else None
        if refusal is not None:
            raise refusal

    @property
    def offsets(self) -> Offsets:
        """The committed offsets, for metrics and invariants."""
        return self._offsets

    @property
    def groups(self) -> Mapping[str, Group]:
        """The groups by id, for metrics and invariants."""
        return self._context.groups

    @property
    def timers(self) -> Timers[TimerKey]:
        """The timers of sessions and rebalances, for metrics and invariants."""
        return self._context.timers

    @property
    def memory(self) -> GroupMemory:
        """The memory that the groups take, for metrics and invariants."""
        return self._context.memory

    @property
    def bytes_held(self) -> int:
        """About how much memory the groups take, their offsets apart."""
        return self._context.memory.total

    @property
    def rebalances(self) -> Rebalances:
        """How often groups have rebalanced, for metrics."""
        return self._context.rebalances

    def next_deadline(self) -> Millis:
        """The next deadline of a session, a rebalance or a round of expiry."""
        return self._context.timers.next_deadline()

    # ── routes ───────────────────────────────────────────────────────────────────────

    def _routes(self) -> dict[type, Decider]:
        context, offsets, classic, consumer = self._context, self._offsets, self._classic, self._consumer
        return {
            JoinGroupRequest: self._either(classic.join, consumer.join),
            SyncGroupRequest: self._either(classic.sync, consumer.sync),
            HeartbeatRequest: self._either(classic.heartbeat, consumer.classic_heartbeat),
            LeaveGroupRequest: self._either(classic.leave, consumer.leave),
            ConsumerGroupHeartbeatRequest: consumer.heartbeat,
            ConsumerGroupDescribeRequest: self._describe_consumer_group,
            OffsetCommitRequest: lambda asked, now: commits.commit(asked, context, offsets, now),
            TxnOffsetCommitRequest: lambda asked, now: commits.commit_in_transaction(
                asked, context, offsets, now
            ),
            OffsetFetchRequest: lambda asked, now: offset_fetches.fetch(asked, context, offsets),
            OffsetDeleteRequest: lambda asked, now: deletions.delete_offsets(asked, context, offsets),
            DeleteGroupsRequest: lambda asked, now: deletions.delete_group(asked, context, offsets),
            ListGroupsRequest: lambda asked, now: listing.list_groups(asked, context, offsets),
            DescribeGroupsRequest: self._describe_group,
        }

    def _either(self, classic: Decider, consumer: Decider) -> Decider:
        """Route a request of the classic protocol by the group's type: a classic member may be in a consumer group."""

        def decide(asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
            group = self._context.groups.get(asked.body.group_id)
            decider = consumer if group is not None and group.kind == CONSUMER else classic
            return decider(asked, now)

        return decide

    def _describe_group(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        (group_id,) = asked.body.groups
        if group_id not in self._context.groups and group_id in self._offsets:
            return Decision(DescribedGroup(group_id=group_id, group_state=listing.EMPTY))
        return Decision(self._classic.describe(group_id, asked.version))

    def _describe_consumer_group(self, asked: CoordinatorRequest, now: Millis) -> Decision[GroupRecord]:
        (group_id,) = asked.body.group_ids
        if not group_id:
            raise ErrorCode.INVALID_GROUP_ID.error("a group needs a name")
        return Decision(self._consumer.describe(group_id))

    # ── time ─────────────────────────────────────────────────────────────────────────

    def _loaded(self, now: Millis) -> Decision[GroupRecord]:
        self._classic.loaded(now)
        self._consumer.loaded(now)
        self._expiry.begin(now)
        return Decision(None)

    def _time_passed(self, now: Millis) -> Decision[GroupRecord]:
        timer = self._context.timers.take(now)
        if timer is None:
            return Decision(None)
        part, _, _ = timer.purpose.partition("-")
        if part == "offsets":
            return self._expiry.due(timer, now)
        expired = self._consumer.expired if part == CONSUMER else self._classic.expired
        decision = expired(timer, now)
        self._context.memory.note(timer.group_id)
        return decision
