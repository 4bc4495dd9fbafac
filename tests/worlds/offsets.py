"""A context of offsets alone: topics that come and go, groups that do as they are told, and a log that is a list.

Every decision's records go to the log through their bytes and are replayed from there, as in a broker.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from andiron.groups import listing
from andiron.groups.group import CLASSIC, Caller, CommitCheck, GroupContext
from andiron.groups.offsets import commits, deletions
from andiron.groups.offsets import fetches as offset_fetches
from andiron.groups.offsets.expiry import Expiry
from andiron.groups.offsets.table import Offsets
from andiron.groups.records import (
    GroupMetadataKey,
    GroupRecord,
    Replayed,
    TransactionEnded,
    decode_record,
    encode_record,
)
from andiron.groups.settings import GroupSettings
from andiron.groups.topics import Topic
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis, Offset
from andiron.model.machine import CoordinatorRequest, Decision
from andiron.wire.messages.delete_groups import DeleteGroupsRequest
from andiron.wire.messages.list_groups import ListGroupsRequest
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

HOUR = 3_600_000


def topic_id(number: int) -> bytes:
    return bytes([number]) * 16


class Shelf:
    """Topics by name."""

    def __init__(self, **partitions: int) -> None:
        self.version = 0
        self._topics: dict[str, Topic] = {}
        for name, count in partitions.items():
            self.create(name, count)

    def create(self, name: str, partitions: int = 1) -> Topic:
        self.version += 1
        self._topics[name] = Topic(name, topic_id(self.version), partitions)
        return self._topics[name]

    def delete(self, name: str) -> None:
        del self._topics[name]

    def named(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def identified(self, id: bytes) -> Topic | None:
        return next((topic for topic in self._topics.values() if topic.id == id), None)

    def names(self) -> list[str]:
        return list(self._topics)


@dataclass
class Crowd:
    """A group that says what a test has told it to."""

    id: str = "g"
    kind: str = CLASSIC
    protocol_type: str = "consumer"
    state: str = "Stable"
    refuses: ErrorCode | None = None  # whoever commits or fetches
    check: CommitCheck | None = None
    reads: list[str] = field(default_factory=list)
    idle_since: int | None = None
    heard: list[tuple[str, int]] = field(default_factory=list)
    callers: list[tuple[Caller, bool, int]] = field(default_factory=list)

    def check_commit(self, caller: Caller, *, transactional: bool, version: int) -> CommitCheck | None:
        self.callers.append((caller, transactional, version))
        self.check_fetch(caller)
        return self.check

    def check_fetch(self, caller: Caller) -> None:
        if self.refuses is not None:
            raise self.refuses.error()

    def heard_from(self, member_id: str, now: Millis) -> None:
        self.heard.append((member_id, now))

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.reads

    def offsets_idle_since(self, topic: str, committed_at: Millis) -> Millis | None:
        if topic in self.reads:
            return None
        return committed_at if self.idle_since is None else Millis(self.idle_since)

    def check_delete(self) -> None:
        if self.state != "Empty":
            raise ErrorCode.NON_EMPTY_GROUP.error()

    def tombstones(self) -> list[GroupRecord]:
        return [GroupRecord(GroupMetadataKey(self.id), None)]


class OffsetsWorld:
    """Offsets, and what is asked of them."""

    def __init__(self, topics: Shelf | None = None, **settings: Any) -> None:
        self.topics = topics or Shelf(t=3, u=1)
        self.context = GroupContext(
            replace(GroupSettings(), **settings), self.topics, Chance(0), lambda group_id: {}
        )
        self.offsets = Offsets()
        self.expiry = Expiry(self.context, self.offsets)
        self.log: list[Replayed] = []
        self.now = Millis(1_000_000)

    # ── the log ──────────────────────────────────────────────────────────────────────

    def settle(self, decision: Decision[GroupRecord]) -> Any:
        """Write what was decided, replay it, answer."""
        for record in decision.records:
            assert (record.producer_id >= 0) == (decision.transaction is not None)
            self.append(record)
        return decision.response

    def append(self, record: Replayed) -> None:
        if isinstance(record, GroupRecord):
            read = decode_record(*encode_record(record), record.producer_id)
            assert read is not None
            record = read
        self.log.append(record)
        replay(self.offsets, record, len(self.log) - 1)
        if isinstance(record, GroupRecord) and isinstance(record.key, GroupMetadataKey):
            self.context.groups.pop(record.key.group, None)

    def end(self, producer_id: int, *, commit: bool) -> None:
        self.append(TransactionEnded(producer_id, commit))

    def reloaded(self) -> Offsets:
        """What another broker would make of the log."""
        offsets = Offsets()
        for offset, record in enumerate(self.log):
            replay(offsets, record, offset)
        return offsets

    # ── requests ─────────────────────────────────────────────────────────────────────

    def asked(self, body: Any, version: int) -> CoordinatorRequest:
        return CoordinatorRequest(body, version, "client", "/127.0.0.1")

    def commit(
        self, offsets: dict[str, dict[int, int]], group: str = "g", version: int = 9, **who: Any
    ) -> Any:
        """OffsetCommit, answered by error codes."""
        return errors(self.settle(self.decide_commit(offsets, group, version, **who)))

    def decide_commit(
        self,
        offsets: dict[str, dict[int, int]],
        group: str = "g",
        version: int = 9,
        *,
        epoch: int = -1,
        member: str = "",
        instance: str | None = None,
        retention_ms: int = -1,
        metadata: str | None = "",
        leader_epoch: int = -1,
    ) -> Decision[GroupRecord]:
        topics = [
            OffsetCommitRequestTopic(
                name,
                partitions=[
                    OffsetCommitRequestPartition(partition, offset, leader_epoch, metadata)
                    for partition, offset in partitions.items()
                ],
            )
            for name, partitions in offsets.items()
        ]
        request = OffsetCommitRequest(group, epoch, member, instance, retention_ms, topics)
        return commits.commit(self.asked(request, version), self.context, self.offsets, self.now)

    def commit_in_transaction(
        self,
        offsets: dict[str, dict[int, int]],
        producer: int = 7,
        group: str = "g",
        *,
        generation: int = -1,
        member: str = "",
        metadata: str | None = "",
    ) -> Any:
        topics = [
            TxnOffsetCommitRequestTopic(
                name,
                [
                    TxnOffsetCommitRequestPartition(number, offset, -1, metadata)
                    for number, offset in each.items()
                ],
            )
            for name, each in offsets.items()
        ]
        request = TxnOffsetCommitRequest("tx", group, producer, 0, generation, member, None, topics)
        decision = commits.commit_in_transaction(self.asked(request, 5), self.context, self.offsets, self.now)
        return errors(self.settle(decision))

    def fetch(
        self,
        wanted: dict[str, list[int]] | None = None,
        group: str = "g",
        *,
        stable: bool = False,
        version: int = 8,
        ids: dict[bytes, list[int]] | None = None,
        member: str | None = None,
        epoch: int = -1,
    ) -> Any:
        """The group of the response."""
        topics = None
        if wanted is not None or ids is not None:
            topics = [
                OffsetFetchRequestTopics(name, partition_indexes=each)
                for name, each in (wanted or {}).items()
            ]
            topics += [OffsetFetchRequestTopics("", id, each) for id, each in (ids or {}).items()]
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group, member, epoch, topics)], require_stable=stable
        )
        return offset_fetches.fetch(self.asked(request, version), self.context, self.offsets).response

    def fetched(self, *wanted: Any, **how: Any) -> dict[str, dict[int, int]]:
        """What it says, offsets only; negative error codes where there is one."""
        return {
            topic.name: {
                each.partition_index: each.committed_offset if not each.error_code else -each.error_code
                for each in topic.partitions
            }
            for topic in self.fetch(*wanted, **how).topics
        }

    def delete_offsets(self, partitions: dict[str, list[int]], group: str = "g") -> Any:
        topics = [
            OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(number) for number in numbers])
            for name, numbers in partitions.items()
        ]
        asked = self.asked(OffsetDeleteRequest(group, topics), 0)
        return errors(self.settle(deletions.delete_offsets(asked, self.context, self.offsets)))

    def delete_group(self, group: str = "g") -> Any:
        asked = self.asked(DeleteGroupsRequest([group]), 2)
        return self.settle(deletions.delete_group(asked, self.context, self.offsets))

    def list(self, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> Any:
        asked = self.asked(ListGroupsRequest(list(states), list(types)), 5)
        return listing.list_groups(asked, self.context, self.offsets).response.groups

    # ── time ─────────────────────────────────────────────────────────────────────────

    def pass_time(self, ms: int) -> list[int]:
        """Let time pass and do what is due; how many records each decision had."""
        until, sizes = self.now + ms, []
        while self.context.timers.next_deadline() <= until:
            self.now = Millis(max(self.now, self.context.timers.next_deadline()))
            timer = self.context.timers.take(self.now)
            assert timer is not None
            decision = self.expiry.due(timer, self.now)
            self.settle(decision)
            sizes.append(len(decision.records))
        self.now = Millis(until)
        return sizes


def replay(offsets: Offsets, record: Replayed, offset: int) -> None:
    if isinstance(record, TransactionEnded):
        offsets.transaction_ended(record)
    elif not isinstance(record.key, GroupMetadataKey):
        offsets.replay(record, Offset(offset))


def errors(response: Any) -> dict[str, dict[int, str]]:
    """Topic → partition → what went wrong there."""
    return {
        topic.name: {each.partition_index: ErrorCode.of(each.error_code).name for each in topic.partitions}
        for topic in response.topics
    }
