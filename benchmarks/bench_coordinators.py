"""What do the coordinators cost by themselves, without a socket and without a log?

Each decision is made, its records are written to bytes and replayed, as the broker does it: that bounds what one
node can take of commits, heartbeats and transactions. Replaying from bytes bounds how soon a node serves its
groups after a start. An assignor runs in the node's only thread, so what it takes, all others wait for.

When written (CPython 3.11, 2 cores, others at work), in a second: 100,000 commits of one offset, 2,500 of a hundred;
280,000 offsets loaded; 350,000 heartbeats of the classic protocol, 100,000 of the new one while nothing changes;
15,000 transactions. An eleventh member and 900 partitions take the uniform assignor 0.3 ms, range 0.02.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from andiron.groups.assignors import ASSIGNORS
from andiron.groups.assignors.spec import Partitions, Subscriber
from andiron.groups.records import decode_record, encode_record
from andiron.groups.settings import GroupSettings
from andiron.groups.shard import GroupShard
from andiron.groups.topics import Topic
from andiron.model.chance import Chance
from andiron.model.ids import Millis, Offset, TopicPartition
from andiron.model.machine import CoordinatorRequest, LogLoaded, Promise, TimePassed
from andiron.transactions.records import encode_record as encode_transaction
from andiron.transactions.requests import AddPartitions, EndTransaction, InitProducer, MarkersWritten
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.shard import TransactionShard
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.sync_group import SyncGroupRequest
from harness import measure

NOW = Millis(1_700_000_000_000)
TIMES = 2_000
MEMBERS, PARTITIONS = 10, 900
TOPIC = Topic("t", b"0123456789abcdef", PARTITIONS)


class OneTopic:
    """All the topics there are."""

    version = 1

    def named(self, name: str) -> Topic | None:
        return TOPIC if name == TOPIC.name else None

    def identified(self, id: bytes) -> Topic | None:
        return TOPIC if id == TOPIC.id else None

    def names(self) -> Iterable[str]:
        return [TOPIC.name]


class Groups:
    """A shard of groups, asked one thing after the other."""

    def __init__(self) -> None:
        self.shard = GroupShard(GroupSettings(), OneTopic(), Chance(1), lambda _: {})
        self.end = 0
        self.decide(LogLoaded(), NOW)

    def ask(self, body: Any, version: int, now: Millis = NOW) -> Any:
        return self.decide(CoordinatorRequest(body, version, "client", "/127.0.0.1"), now)

    def decide(self, request: Any, now: Millis) -> Any:
        decision = self.shard.decide(request, now)
        for record in decision.records:
            encode_record(record)
            self.shard.replay(record, Offset(self.end))
            self.end += 1
        return decision.response


# ── groups ───────────────────────────────────────────────────────────────────────────


def commit_of(group: str, partitions: Iterable[int]) -> OffsetCommitRequest:
    places = [OffsetCommitRequestPartition(number, 42, -1, "") for number in partitions]
    topics = [OffsetCommitRequestTopic(name=TOPIC.name, partitions=places)]
    return OffsetCommitRequest(group_id=group, member_id="", topics=topics)


def committing(partitions: int) -> Callable[[], int]:
    groups, request = Groups(), commit_of("g", range(partitions))

    def once() -> int:
        for _ in range(TIMES // partitions):
            groups.ask(request, 9)
        return TIMES // partitions

    return once


def loading() -> Callable[[], int]:
    decision = Groups().shard.decide(CoordinatorRequest(commit_of("g", range(PARTITIONS)), 9, "c", "h"), NOW)
    log = [encode_record(record) for record in decision.records]

    def once() -> int:
        shard = Groups().shard
        for offset, (key, value) in enumerate(log):
            record = decode_record(key, value)
            assert record is not None
            shard.replay(record, Offset(offset))
        return len(log)

    return once


def classic_heartbeats() -> Callable[[], int]:
    """A group of one, stable."""
    groups = Groups()
    hello = JoinGroupRequest(group_id="g", session_timeout_ms=6000, protocol_type="consumer", member_id="")
    hello.protocols = [JoinGroupRequestProtocol("range", b"")]
    joined = groups.ask(hello, 3)
    later = Millis(NOW + 60_000)
    while isinstance(joined, Promise) and not joined.kept:
        groups.decide(TimePassed(), later)
    member = joined.response.member_id
    groups.ask(SyncGroupRequest(group_id="g", generation_id=1, member_id=member), 3, later)
    return asking(groups, HeartbeatRequest(group_id="g", generation_id=1, member_id=member), 4, later)


def new_heartbeats() -> Callable[[], int]:
    """A group of one that has all partitions."""
    groups = Groups()
    hello = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", rebalance_timeout_ms=60_000)
    hello.subscribed_topic_names, hello.topic_partitions = [TOPIC.name], []
    epoch = groups.ask(hello, 1).member_epoch
    report = ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=epoch)
    report.topic_partitions = [TopicPartitions(TOPIC.id, list(range(PARTITIONS)))]
    groups.ask(report, 1)
    report.topic_partitions = None
    return asking(groups, report, 1, NOW)


def asking(groups: Groups, request: Any, version: int, now: Millis) -> Callable[[], int]:
    assert groups.ask(request, version, now).error_code == 0

    def once() -> int:
        for _ in range(TIMES):
            groups.ask(request, version, now)
        return TIMES

    return once


def joining(name: str) -> Callable[[], int]:
    """An eleventh member comes to ten that share 900 partitions."""
    assign, counts = ASSIGNORS[name], {TOPIC.id: PARTITIONS}
    nothing: Partitions = {}
    members = [Subscriber(f"m{number:02}", None, [TOPIC.id], nothing) for number in range(MEMBERS)]
    before = assign(members, counts)
    after = [member._replace(owned=before[member.id]) for member in members]
    after.append(Subscriber("m99", None, [TOPIC.id], nothing))

    def once() -> int:
        for _ in range(100):
            assign(after, counts)
        return 100

    return once


# ── transactions ─────────────────────────────────────────────────────────────────────


def transacting(partitions: int) -> Callable[[], int]:
    """Partitions added, committed, markers written: by version 2, so each with an epoch of its own."""
    shard = TransactionShard(TransactionSettings(), 1, lambda *_: True)
    places, end = tuple(TopicPartition("t", number) for number in range(partitions)), 0

    def ask(request: Any) -> Any:
        nonlocal end
        if isinstance(request, InitProducer | EndTransaction) and shard.needs_fresh_id(request):
            request = request._replace(fresh_id=end)
        decision = shard.decide(request, NOW)
        for record in decision.records:
            encode_transaction(record)
            shard.replay(record, Offset(end))
            end += 1
        return decision.response

    def once() -> int:
        holder = ask(InitProducer("w", 60_000))
        for _ in range(TIMES // 10):
            identity = holder.producer_id, holder.producer_epoch
            ask(AddPartitions("w", *identity, places))
            holder = ask(EndTransaction("w", *identity, committed=True))
            for owed in shard.take_markers(Offset(end)):
                ask(MarkersWritten("w", owed.producer_id, owed.producer_epoch, owed.partitions))
        return TIMES // 10

    return once


def main() -> None:
    measure("groups: commit of one offset", committing(1), unit="commits")
    measure("groups: commit of 100 offsets", committing(100), unit="commits")
    measure("groups: offsets loaded", loading(), unit="offsets")
    measure("groups: classic heartbeat", classic_heartbeats(), unit="heartbeats")
    measure("groups: new heartbeat, nothing new", new_heartbeats(), unit="heartbeats")
    for name in ASSIGNORS:
        measure(f"assignor {name}: an 11th comes, {PARTITIONS} partitions", joining(name), unit="times")
    measure("transactions: one partition", transacting(1), unit="transactions")
    measure("transactions: ten partitions", transacting(10), unit="transactions")


if __name__ == "__main__":
    main()
