"""Administration of groups: list, describe, lag, reset of offsets, deletion.

Every question goes to the broker that coordinates the group, except for the list, of which each broker has
a part. A group is described by the API of the new protocol first; a broker that has the group as a classic
one, or does not know that API, is then asked by the older one. One that neither knows may yet be there: share and
streams groups are listed.

Offsets are committed here as by nobody: no member, no generation. A coordinator takes that for a group
without members alone, since members would go on from where they are and overwrite it.

Read next: ../core/group_descriptions.py for what is told, ../core/offset_reset.py for how a reset is planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.broker_survey import LeftOut, ask_every, log_extents
from andiron.client.blocking.client import Client
from andiron.client.blocking.coordinators import Coordinators, CoordinatorType
from andiron.client.blocking.record_times import times_of_records
from andiron.client.core.answer_errors import by_topic, check_error
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.client.core.group_descriptions import DEAD, CommittedOffset, GroupDescription, GroupListing
from andiron.client.core.lag import Lag, first_unread, lag_of
from andiron.client.core.offset_reset import Bounds, Move, Target, plan
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from andiron.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from andiron.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from andiron.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from andiron.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from andiron.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)

STABLE_SINCE = 7  # version of OffsetFetch
VERSION_BEFORE_IDS = 9  # of OffsetCommit and OffsetFetch: later ones name topics by id, also deleted ones
NOTHING_COMMITTED = -1
REASON = "removed by an administrator"


class GroupAdmin:
    """Describes and changes groups, one request at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._coordinators = Coordinators(client, CoordinatorType.GROUP)

    # ── descriptions ─────────────────────────────────────────────────────────────────

    def groups(
        self, states: Sequence[str] = (), types: Sequence[str] = (), left_out: LeftOut | None = None
    ) -> list[GroupListing]:
        """ListGroups, of every broker: all groups by name, or those in these states, or of these types. Brokers that do
        not answer are noted in `left_out`, or else their error is raised."""

        def check(answer: ListGroupsResponse) -> None:
            check_error(answer.error_code, None, "the groups")

        by_state = (4, "a filter by state") if states else None
        by_type = (5, "a filter by type") if types else None
        request = ListGroupsRequest(list(states), list(types))
        answers = ask_every(self._client, request, ListGroupsResponse, check, by_type or by_state, left_out)
        listings = [
            GroupListing.of(each, node_id) for node_id, answer in answers.items() for each in answer.groups
        ]
        return sorted({each.id: each for each in listings}.values())

    def describe(self, group: str) -> GroupDescription:
        """A group with its members; GROUP_ID_NOT_FOUND where there is none. Of one that is neither a consumer nor a
        classic group only what lists say is known, and nobody in it."""
        try:
            return self._describe_consumer(group)
        except ProtocolError as error:
            if error.code not in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION):
                raise
        try:
            return self._describe_classic(group)
        except ProtocolError as error:
            listed = self._listed(group) if error.code is ErrorCode.GROUP_ID_NOT_FOUND else None
            if listed is None:
                raise
            return listed

    def _listed(self, group: str) -> GroupDescription | None:
        """A group in its coordinator's ListGroups."""

        def check(answer: ListGroupsResponse) -> None:
            check_error(answer.error_code, None, "the groups")

        answer = self._coordinators.call(group, ListGroupsRequest(), ListGroupsResponse, check)
        coordinator = self._coordinators.find(group)
        listings = [GroupListing.of(each, coordinator.id) for each in answer.groups if each.group_id == group]
        return GroupDescription.of_listing(listings[0], coordinator) if listings else None

    def _describe_consumer(self, group: str) -> GroupDescription:
        def check(answer: ConsumerGroupDescribeResponse) -> None:
            for each in answer.groups:
                check_error(each.error_code, each.error_message, f"group {group!r}")

        request = ConsumerGroupDescribeRequest([group])
        answer = self._coordinators.call(group, request, ConsumerGroupDescribeResponse, check)
        return GroupDescription.of_consumer(answer.groups[0], self._coordinators.find(group))

    def _describe_classic(self, group: str) -> GroupDescription:
        def check(answer: DescribeGroupsResponse) -> None:
            for each in answer.groups:
                if each.group_state == DEAD:  # there is none; older brokers have no error for it
                    raise ErrorCode.GROUP_ID_NOT_FOUND.error(f"there is no group {group!r}")
                check_error(each.error_code, each.error_message, f"group {group!r}")

        request = DescribeGroupsRequest([group])
        answer = self._coordinators.call(group, request, DescribeGroupsResponse, check)
        return GroupDescription.of_classic(answer.groups[0], self._coordinators.find(group))

    # ── committed offsets and lag ────────────────────────────────────────────────────

    def committed(self, group: str, *, stable: bool = False) -> dict[TopicPartition, CommittedOffset]:
        """OffsetFetch: the group's committed offsets by partition; none for a group that does not exist.

        Asked for what is `stable`, it waits for transactions that are about to commit something else.
        """

        def check(answer: OffsetFetchResponse) -> None:
            told = answer.groups[0] if answer.groups else answer
            check_error(told.error_code, None, f"group {group!r}")
            for topic in told.topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    check_error(each.error_code, None, f"group {group!r}, {partition}")

        if stable:
            self._client.retry(lambda: self._require_stable(group))
        asked = OffsetFetchRequestGroup(group, topics=None)
        request = OffsetFetchRequest(group, None, [asked], stable)
        answer = self._coordinators.call(group, request, OffsetFetchResponse, check, VERSION_BEFORE_IDS)
        topics = answer.groups[0].topics if answer.groups else answer.topics
        return {
            TopicPartition(topic.name, each.partition_index): CommittedOffset(
                each.committed_offset, each.committed_leader_epoch, each.metadata or ""
            )
            for topic in topics
            for each in topic.partitions
            if each.committed_offset != NOTHING_COMMITTED
        }

    def _require_stable(self, group: str) -> None:
        coordinator = self._coordinators.connection(group)
        coordinator.versions.require(ApiKey.OFFSET_FETCH, STABLE_SINCE, "waiting for stable offsets")

    def lag(
        self, group: GroupDescription, now_ms: int, left_out: LeftOut = lambda node, error: None
    ) -> dict[TopicPartition, Lag]:
        """The group's lag in the partitions that it has committed or has members for; and, where it reads whole topics,
        in all others of these, which somebody has to begin with.

        A partition that is gone, or has no leader, or one that does not answer soon, has no end.
        """
        committed = self.committed(group.id)
        partitions = sorted({*committed, *group.owners()})
        topics = group.topics() | {each.topic for each in partitions} if group.subscribes else set()
        partitions = sorted({*partitions, *self._partitions_of(topics)})
        logs = log_extents(self._client, self.led(partitions), left_out=left_out)
        starts = {each: log.start for each, log in logs.items() if log.start is not None}
        ends = {each: log.end for each, log in logs.items() if log.end is not None}
        times = times_of_records(self._client, first_unread(committed, starts, ends))
        return {
            each: lag_of(committed.get(each), starts.get(each), ends.get(each), times.get(each), now_ms)
            for each in partitions
        }

    def _partitions_of(self, topics: Iterable[str]) -> list[TopicPartition]:
        """All partitions of those of these topics that exist."""
        names = sorted(topics)
        self._client.retry(lambda: self._client.refresh(names))
        known = self._client.metadata.topics
        return [each for name in names if name in known for each in known[name].names()]

    def led(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Those of some partitions that exist and have a leader: a group may outlive its topics."""
        names = sorted({each.topic for each in partitions})
        self._client.retry(lambda: self._client.refresh(names))
        known = self._client.metadata.topics
        led = {TopicPartition(name, at) for name in names if name in known for at in known[name].writable()}
        return [each for each in partitions if each in led]

    def _offsets(self, partitions: Iterable[TopicPartition], time: int) -> dict[TopicPartition, int]:
        found = Admin(self._client).list_offsets(dict.fromkeys(partitions, time))
        return {partition: at.offset for partition, at in found.items()}

    # ── changes ──────────────────────────────────────────────────────────────────────

    def plan_reset(self, group: str, partitions: Sequence[TopicPartition], target: Target) -> list[Move]:
        """The moves that a reset of the group's offsets would make; `commit` makes them."""
        starts, ends = self._offsets(partitions, EARLIEST), self._offsets(partitions, LATEST)
        times = self._offsets(partitions, target.time) if target.time is not None else {}
        bounds = {each: Bounds(starts[each], ends[each], times.get(each, -1)) for each in partitions}
        return plan(target, partitions, self.committed(group), bounds)

    def commit(self, group: str, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        """OffsetCommit for a group without members; a group that does not exist is created by it.

        The metadata is the committer's own, and is kept with each of the offsets.
        """

        def check(answer: OffsetCommitResponse) -> None:
            for topic in answer.topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    if each.error_code == ErrorCode.UNKNOWN_MEMBER_ID.number:
                        raise ErrorCode.NON_EMPTY_GROUP.error(f"group {group!r} has members")
                    check_error(each.error_code, None, f"partition {partition}")

        rows = [
            OffsetCommitRequestTopic(
                name,
                partitions=[
                    OffsetCommitRequestPartition(each.partition, offsets[each], committed_metadata=metadata)
                    for each in partitions
                ],
            )
            for name, partitions in by_topic(offsets)
        ]
        request = OffsetCommitRequest(group, topics=rows)
        self._coordinators.call(group, request, OffsetCommitResponse, check, VERSION_BEFORE_IDS)

    def delete_offsets(self, group: str, partitions: Iterable[TopicPartition]) -> None:
        """OffsetDelete: delete the group's offsets of these partitions, unless members subscribe to the topic."""

        def check(answer: OffsetDeleteResponse) -> None:
            check_error(answer.error_code, None, f"group {group!r}")
            for topic in answer.topics:
                for each in topic.partitions:
                    partition = TopicPartition(topic.name, each.partition_index)
                    check_error(each.error_code, None, f"partition {partition}")

        rows = [
            OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(each.partition) for each in some])
            for name, some in by_topic(partitions)
        ]
        self._coordinators.call(group, OffsetDeleteRequest(group, rows), OffsetDeleteResponse, check)

    def delete(self, group: str) -> None:
        """DeleteGroups: delete a group without members, and its committed offsets."""

        def check(answer: DeleteGroupsResponse) -> None:
            for each in answer.results:
                check_error(each.error_code, None, f"group {group!r}")

        self._coordinators.call(group, DeleteGroupsRequest([group]), DeleteGroupsResponse, check)

    def remove_member(self, group: str, member_id: str = "", instance_id: str | None = None) -> None:
        """LeaveGroup for a member of a classic group, by its id or, if it is static, its group.instance.id (KIP-345).

        A dynamic member that lives joins again; a static one finds that it was removed.
        """
        named = f"group {group!r}, member {instance_id or member_id!r}"

        def check(answer: LeaveGroupResponse) -> None:
            check_error(answer.error_code, None, f"group {group!r}")
            for each in answer.members:
                check_error(each.error_code, None, named)

        identity = MemberIdentity(member_id, instance_id, REASON)
        request = LeaveGroupRequest(group, member_id, [identity])
        self._coordinators.call(group, request, LeaveGroupResponse, check)
