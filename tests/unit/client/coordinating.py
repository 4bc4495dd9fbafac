"""A scripted broker that coordinates groups and transactions, with what a test wants to go wrong.

It holds what a test puts in, answers questions from that, and does what it is asked: just enough for the
client's side to be seen working. `errors` are codes to answer a request with, the next request first.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from andiron.wire.apis import ApiKey
from andiron.wire.consumer_protocol import AssignedTopic, Assignment, Subscription, versioned_bytes
from andiron.wire.messages import consumer_group_describe as consumer
from andiron.wire.messages import describe_groups as classic
from andiron.wire.messages import describe_transactions, list_transactions
from andiron.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from andiron.wire.messages.describe_producers import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from andiron.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from andiron.wire.messages.init_producer_id import InitProducerIdResponse
from andiron.wire.messages.leave_group import LeaveGroupResponse, MemberResponse
from andiron.wire.messages.list_groups import ListedGroup, ListGroupsResponse
from andiron.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from andiron.wire.messages.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from andiron.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from unit.client.scripted import NODE_ID, ScriptedBroker

NOT_FOUND, NOT_FOUND_ID, UNKNOWN_MEMBER, INVALID = 69, 105, 25, 42


class Coordinating:
    """What one broker coordinates."""

    def __init__(self, broker: ScriptedBroker) -> None:
        self.groups: dict[str, classic.DescribedGroup | consumer.DescribedGroup] = {}
        self.unserved: dict[str, str] = {}  # groups of Kafka's that are listed and no more, by their type
        self.committed: dict[str, dict[str, dict[int, int]]] = defaultdict(dict)
        self.transactions: dict[str, describe_transactions.TransactionState] = {}
        self.producers: dict[int, list[ProducerState]] = defaultdict(list)
        self.errors: dict[int, list[int]] = defaultdict(list)
        self._broker = broker
        for key, answer in (
            (ApiKey.FIND_COORDINATOR, self._find),
            (ApiKey.LIST_GROUPS, self._list_groups),
            (ApiKey.CONSUMER_GROUP_DESCRIBE, self._describe_consumer),
            (ApiKey.DESCRIBE_GROUPS, self._describe_classic),
            (ApiKey.OFFSET_FETCH, self._fetch_offsets),
            (ApiKey.OFFSET_COMMIT, self._commit),
            (ApiKey.OFFSET_DELETE, self._delete_offsets),
            (ApiKey.DELETE_GROUPS, self._delete),
            (ApiKey.LEAVE_GROUP, self._leave),
            (ApiKey.LIST_TRANSACTIONS, self._list_transactions),
            (ApiKey.DESCRIBE_TRANSACTIONS, self._describe_transactions),
            (ApiKey.DESCRIBE_PRODUCERS, self._describe_producers),
            (ApiKey.INIT_PRODUCER_ID, self._init_producer_id),
            (ApiKey.WRITE_TXN_MARKERS, self._write_markers),
        ):
            broker.on(key, answer)

    def classic_group(self, name: str, state: str = "Empty", **members: list[int]) -> None:
        """A group whose members have these partitions of topic "t"."""
        rows = [
            classic.DescribedGroupMember(
                member,
                None,
                f"client-{member}",
                "/127.0.0.1",
                versioned_bytes(Subscription(["t"])),
                versioned_bytes(Assignment([AssignedTopic("t", partitions)])),
            )
            for member, partitions in members.items()
        ]
        self.groups[name] = classic.DescribedGroup(
            0, None, name, state, "consumer", "range" if rows else "", rows
        )

    def consumer_group(self, name: str, state: str = "Empty") -> None:
        """A group of the new protocol, without members."""
        self.groups[name] = consumer.DescribedGroup(0, None, name, state, 3, 3, "uniform", [])

    def transaction(self, name: str, producer_id: int, state: str = "Ongoing", **topics: list[int]) -> None:
        """A transaction over these partitions."""
        rows = [describe_transactions.TopicData(topic, numbers) for topic, numbers in topics.items()]
        self.transactions[name] = describe_transactions.TransactionState(
            0, name, state, 60_000, 1000 if rows else -1, producer_id, 2, rows
        )

    def _error(self, key: int) -> int:
        return self.errors[key].pop(0) if self.errors[key] else 0

    # ── coordinators ─────────────────────────────────────────────────────────────────

    def _find(self, request: Any) -> FindCoordinatorResponse:
        error = self._error(ApiKey.FIND_COORDINATOR)
        node_id, port = (-1, -1) if error else (NODE_ID, self._broker.port)
        rows = [
            Coordinator(key, node_id, "127.0.0.1", port, error)
            for key in request.coordinator_keys or [request.key]
        ]
        return FindCoordinatorResponse(
            error_code=error, node_id=node_id, host="127.0.0.1", port=port, coordinators=rows
        )

    # ── groups ───────────────────────────────────────────────────────────────────────

    def _list_groups(self, request: Any) -> ListGroupsResponse:
        rows = [
            ListedGroup(name, "consumer", group.group_state, kind)
            for name, group in self.groups.items()
            for kind in ["classic" if isinstance(group, classic.DescribedGroup) else "consumer"]
            if not request.states_filter or group.group_state in request.states_filter
            if not request.types_filter or kind in request.types_filter
        ]
        rows += [
            ListedGroup(name, kind, "Empty", kind)
            for name, kind in self.unserved.items()
            if not request.types_filter or kind in request.types_filter
        ]
        return ListGroupsResponse(error_code=self._error(ApiKey.LIST_GROUPS), groups=rows)

    def _describe_consumer(self, request: Any) -> consumer.ConsumerGroupDescribeResponse:
        (name,) = request.group_ids
        group = self.groups.get(name)
        if not isinstance(group, consumer.DescribedGroup):
            group = consumer.DescribedGroup(NOT_FOUND, "not of the new protocol", name)
        return consumer.ConsumerGroupDescribeResponse(groups=[group])

    def _describe_classic(self, request: Any) -> classic.DescribeGroupsResponse:
        (name,) = request.groups
        group = self.groups.get(name)
        if error := self._error(ApiKey.DESCRIBE_GROUPS):
            group = classic.DescribedGroup(error, None, name)
        elif not isinstance(group, classic.DescribedGroup):
            group = classic.DescribedGroup(NOT_FOUND, None, name, "Dead")
        return classic.DescribeGroupsResponse(groups=[group])

    def _fetch_offsets(self, request: Any) -> OffsetFetchResponse:
        name = request.groups[0].group_id if request.groups else request.group_id
        topics = [
            OffsetFetchResponseTopics(
                topic,
                partitions=[
                    OffsetFetchResponsePartitions(number, offset, metadata="")
                    for number, offset in offsets.items()
                ],
            )
            for topic, offsets in self.committed[name].items()
        ]
        group = OffsetFetchResponseGroup(name, topics, self._error(ApiKey.OFFSET_FETCH))
        return OffsetFetchResponse(topics=topics, groups=[group])  # alike in shape

    def _commit(self, request: Any) -> OffsetCommitResponse:
        group = self.groups.get(request.group_id)
        error = UNKNOWN_MEMBER if group is not None and group.members else self._error(ApiKey.OFFSET_COMMIT)
        answers = []
        for topic in request.topics:
            rows = []
            for each in topic.partitions:
                rows.append(OffsetCommitResponsePartition(each.partition_index, error))
                if not error:
                    known = self.committed[request.group_id].setdefault(topic.name, {})
                    known[each.partition_index] = each.committed_offset
            answers.append(OffsetCommitResponseTopic(topic.name, partitions=rows))
        return OffsetCommitResponse(topics=answers)

    def _delete_offsets(self, request: Any) -> OffsetDeleteResponse:
        error = self._error(ApiKey.OFFSET_DELETE)
        answers = []
        for topic in request.topics:
            rows = [OffsetDeleteResponsePartition(each.partition_index, error) for each in topic.partitions]
            for each in topic.partitions if not error else ():
                self.committed[request.group_id].get(topic.name, {}).pop(each.partition_index, None)
            answers.append(OffsetDeleteResponseTopic(topic.name, rows))
        return OffsetDeleteResponse(topics=answers)

    def _delete(self, request: Any) -> DeleteGroupsResponse:
        rows = []
        for name in request.groups_names:
            group = self.groups.get(name)
            error = NOT_FOUND if group is None else 68 if group.members else 0
            error = INVALID if name in self.unserved else error
            rows.append(DeletableGroupResult(name, error))
            if not error:
                del self.groups[name]
        return DeleteGroupsResponse(results=rows)

    def _leave(self, request: Any) -> LeaveGroupResponse:
        group = self.groups[request.group_id]
        known = {each.member_id for each in group.members}
        rows = [
            MemberResponse(
                each.member_id,
                each.group_instance_id,
                0 if each.member_id in known or each.group_instance_id else UNKNOWN_MEMBER,
            )
            for each in request.members
        ]
        return LeaveGroupResponse(members=rows)

    # ── transactions ─────────────────────────────────────────────────────────────────

    def _list_transactions(self, request: Any) -> list_transactions.ListTransactionsResponse:
        rows = [
            list_transactions.TransactionState(name, each.producer_id, each.transaction_state)
            for name, each in self.transactions.items()
            if not request.state_filters or each.transaction_state in request.state_filters
            if not request.producer_id_filters or each.producer_id in request.producer_id_filters
        ]
        unknown = [each for each in request.state_filters if each == "Unheard"]
        return list_transactions.ListTransactionsResponse(
            error_code=self._error(ApiKey.LIST_TRANSACTIONS),
            unknown_state_filters=unknown,
            transaction_states=rows,
        )

    def _describe_transactions(self, request: Any) -> describe_transactions.DescribeTransactionsResponse:
        (name,) = request.transactional_ids
        found = self.transactions.get(name) or describe_transactions.TransactionState(NOT_FOUND_ID, name)
        return describe_transactions.DescribeTransactionsResponse(transaction_states=[found])

    def _describe_producers(self, request: Any) -> DescribeProducersResponse:
        error = self._error(ApiKey.DESCRIBE_PRODUCERS)
        topics = [
            TopicResponse(
                topic.name,
                [
                    PartitionResponse(number, error, None, [] if error else self.producers[number])
                    for number in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
        return DescribeProducersResponse(topics=topics)

    def _init_producer_id(self, request: Any) -> InitProducerIdResponse:
        if error := self._error(ApiKey.INIT_PRODUCER_ID):
            return InitProducerIdResponse(error_code=error)
        known = self.transactions[request.transactional_id]
        known.transaction_state, known.producer_epoch, known.topics = "Empty", known.producer_epoch + 1, []
        return InitProducerIdResponse(producer_id=known.producer_id, producer_epoch=known.producer_epoch)

    def _write_markers(self, request: Any) -> WriteTxnMarkersResponse:
        (marker,) = request.markers
        (topic,) = marker.topics
        (number,) = topic.partition_indexes
        error = self._error(ApiKey.WRITE_TXN_MARKERS)
        for each in self.producers[number] if not error else ():
            if each.producer_id == marker.producer_id:
                each.current_txn_start_offset = -1
        row = WritableTxnMarkerPartitionResult(number, error)
        told = WritableTxnMarkerTopicResult(topic.name, [row])
        return WriteTxnMarkersResponse(markers=[WritableTxnMarkerResult(marker.producer_id, [told])])
