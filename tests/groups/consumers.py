"""A coordinator with topics, a log and a clock that stands still until it is moved; and consumers to talk to it.

`Coordinator.ask` does what broker/coordinators/shard.py does: decide, append (as bytes), replay, answer. A `Consumer`
behaves as Kafka's clients do: it takes what it is assigned, lets go of what it is not, and says so with its next
heartbeat.
"""

from __future__ import annotations

from typing import Any

from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.records import GroupRecord, decode_record, encode_record
from andiron.groups.settings import GroupSettings
from andiron.groups.shard import GroupShard
from andiron.groups.topics import Topic
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis, Offset
from andiron.model.machine import CoordinatorRequest, LogLoaded, Promise, TimePassed
from andiron.wire.consumer_protocol import (
    AssignedTopic,
    Assignment,
    Subscription,
    read_assignment,
    versioned_bytes,
)
from andiron.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from andiron.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

GROUP = "g"
SESSION_MS, REBALANCE_MS, INTERVAL_MS = 45_000, 60_000, 5_000


class Catalogue:
    """The topics of a cluster."""

    def __init__(self, **partitions: int) -> None:
        self.version = 0
        self._topics: dict[str, Topic] = {}
        self._made = 0
        for name, count in partitions.items():
            self.put(name, count)

    def put(self, name: str, partitions: int) -> None:
        """A topic comes, or grows."""
        known = self._topics.get(name)
        self._made += known is None
        id = self._made.to_bytes(16, "big") if known is None else known.id
        self._topics[name] = Topic(name, id, partitions)
        self.version += 1

    def remove(self, name: str) -> None:
        del self._topics[name]
        self.version += 1

    def named(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def identified(self, id: bytes) -> Topic | None:
        return next((topic for topic in self._topics.values() if topic.id == id), None)

    def names(self) -> list[str]:
        return list(self._topics)

    def id(self, name: str) -> bytes:
        return self._topics[name].id


class Coordinator:
    """One shard, run by hand."""

    def __init__(self, topics: Catalogue | None = None, **settings: Any) -> None:
        self.topics = topics or Catalogue(t=4)
        self.settings = GroupSettings(**settings)
        self.configs: dict[str, dict[str, str]] = {}
        self.now = Millis(1_000)
        self.log: list[tuple[bytes, bytes | None]] = []
        self._brokers = 0
        self.shard = self._loaded()
        self.written: list[GroupRecord] = []  # by the latest decision
        self.kept: list[Promise] = []

    def _loaded(self) -> GroupShard:
        self._brokers += 1  # each draws its own chances
        chance = Chance(self._brokers)
        shard = GroupShard(self.settings, self.topics, chance, lambda group: self.configs.get(group, {}))
        for offset, (key, value) in enumerate(self.log):
            record = decode_record(key, value)
            assert record is not None
            shard.replay(record, Offset(offset))
        shard.decide(LogLoaded(), self.now)
        return shard

    def reload(self) -> None:
        """Another broker takes over, with nothing but the log."""
        self.shard = self._loaded()

    def run(self, request: Any) -> Any:
        decision = self.shard.decide(request, self.now)
        self.written, self.kept = decision.records, decision.kept
        for record in decision.records:
            key, value = encode_record(record)
            self.log.append((key, value))
            replayed = decode_record(key, value)
            assert replayed is not None
            self.shard.replay(replayed, Offset(len(self.log) - 1))
        return decision.response

    def ask(self, body: Any, version: int = 1, client_id: str = "c") -> Any:
        return self.run(CoordinatorRequest(body, version, client_id, "/127.0.0.1"))

    def refusal(self, body: Any, version: int = 1) -> ErrorCode:
        """Why a request is refused."""
        try:
            response = self.ask(body, version)
        except ProtocolError as error:
            return error.code
        return ErrorCode.of(response.error_code)

    def pass_time(self, duration_ms: int) -> None:
        """Go on, with every deadline on the way at its time."""
        end = self.now + duration_ms
        while (due := self.shard.next_deadline()) <= end:
            self.now = Millis(max(self.now, due))
            self.run(TimePassed())
        self.now = Millis(end)

    @property
    def group(self) -> ConsumerGroup:
        group = self.groups[GROUP]
        assert isinstance(group, ConsumerGroup)
        return group

    @property
    def groups(self) -> dict[str, Any]:
        return self.shard._context.groups

    @property
    def kinds(self) -> list[str]:
        """The kinds of the records that were written last, those of tombstones with a dash before them."""
        return [
            ("" if record.value is not None else "-")
            + type(record.key).__name__.removeprefix("ConsumerGroup").removesuffix("Key")
            for record in self.written
        ]


class Consumer:
    """One that speaks the new protocol."""

    def __init__(
        self, coordinator: Coordinator, id: str, *topics: str,
        instance_id: str | None = None, pattern: str | None = None, assignor: str | None = None,
    ) -> None:  # fmt: skip
        self.coordinator, self.id, self.instance_id = coordinator, id, instance_id
        self.topics, self.pattern, self.assignor = list(topics), pattern, assignor
        self.epoch = 0
        self.assigned: dict[bytes, list[int]] = {}
        self.owned: dict[bytes, list[int]] = {}
        self.slow = False  # whether it takes its time to let go of what it should
        self._said: dict[bytes, list[int]] | None = None

    def request(self, **fields: Any) -> ConsumerGroupHeartbeatRequest:
        """The next heartbeat: everything when it joins or may have missed something, then only what has changed."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.id, member_epoch=self.epoch, instance_id=self.instance_id
        )
        if self._said is None:
            request.rebalance_timeout_ms = REBALANCE_MS
            request.subscribed_topic_names = list(self.topics)
            request.subscribed_topic_regex = self.pattern
            request.server_assignor = self.assignor
        if self.owned != self._said:
            request.topic_partitions = [TopicPartitions(id, share) for id, share in self.owned.items()]
        for name, value in fields.items():
            setattr(request, name, value)
        return request

    def beat(self, **fields: Any) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat, and take the answer."""
        request = self.request(**fields)
        said = {id: list(share) for id, share in self.owned.items()}
        response: ConsumerGroupHeartbeatResponse = self.coordinator.ask(request)
        self._said = said
        self.take(response)
        return response

    def lose_answer(self) -> None:
        """Send a heartbeat, and hear nothing."""
        request, self._said = self.request(), None
        self.coordinator.ask(request)

    def take(self, response: ConsumerGroupHeartbeatResponse) -> None:
        self.epoch = response.member_epoch
        if response.assignment is not None:
            topics = response.assignment.topic_partitions
            self.assigned = {each.topic_id: sorted(each.partitions) for each in topics}
        if not self.slow:
            self.catch_up()

    def catch_up(self) -> None:
        """Let go of what is not assigned any more, and begin with what is new."""
        self.owned = self.assigned

    def fenced(self) -> None:
        """Told to let go of all and join again."""
        self.epoch, self.assigned, self.owned, self._said = 0, {}, {}, None

    def leave(self, epoch: int = -1) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.id, member_epoch=epoch, instance_id=self.instance_id
        )
        self.fenced()
        response: ConsumerGroupHeartbeatResponse = self.coordinator.ask(request)
        return response

    def partitions(self, topic: str = "t") -> list[int]:
        return self.owned.get(self.coordinator.topics.id(topic), [])


class OldConsumer:
    """One that speaks the classic protocol, and assigns cooperatively unless it is eager."""

    def __init__(
        self, coordinator: Coordinator, *topics: str, instance_id: str | None = None, eager: bool = False
    ) -> None:
        self.coordinator, self.topics, self.instance_id, self.eager = (
            coordinator,
            list(topics),
            instance_id,
            eager,
        )
        self.id, self.generation = "", -1
        self.owned: dict[str, list[int]] = {}

    def request(self, **fields: Any) -> JoinGroupRequest:
        owned = [] if self.eager else [AssignedTopic(topic, share) for topic, share in self.owned.items()]
        subscription = versioned_bytes(Subscription(self.topics, None, owned), 1)
        request = JoinGroupRequest(
            GROUP, 10_000, REBALANCE_MS, self.id, self.instance_id, "consumer",
            [JoinGroupRequestProtocol("range", subscription)],
        )  # fmt: skip
        for name, value in fields.items():
            setattr(request, name, value)
        return request

    def join(self, **fields: Any) -> JoinGroupResponse:
        """Join, with an id that it is given first; in a classic group, wait for the others."""
        response = self.coordinator.ask(self.request(**fields), 9)
        if isinstance(response, Promise):
            self.coordinator.pass_time(3_000)
            response = response.response
        assert isinstance(response, JoinGroupResponse)
        self.id = response.member_id
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED.number:
            return self.join(**fields)
        self.generation = response.generation_id
        return response

    def sync(self, **assignments: list[int]) -> SyncGroupResponse:
        """Ask for what it gets; as a leader, it gives itself partitions by topic."""
        shares = [AssignedTopic(topic, share) for topic, share in assignments.items()]
        assigned = (
            [SyncGroupRequestAssignment(self.id, versioned_bytes(Assignment(shares), 1))] if shares else []
        )
        response = self.coordinator.ask(
            SyncGroupRequest(
                GROUP, self.generation, self.id, self.instance_id, "consumer", "range", assigned
            ),
            5,
        )
        assert isinstance(response, SyncGroupResponse)
        self.take_assignment(response)
        return response

    def take_assignment(self, response: SyncGroupResponse) -> None:
        if not response.error_code:
            topics = read_assignment(response.assignment).assigned_partitions
            self.owned = {each.topic: each.partitions for each in topics}

    def beat(self) -> ErrorCode:
        return self.coordinator.refusal(
            HeartbeatRequest(GROUP, self.generation, self.id, self.instance_id), 4
        )

    def rejoin(self) -> None:
        """Join as often as it is told to."""
        for _ in range(5):
            if self.beat() is not ErrorCode.REBALANCE_IN_PROGRESS:
                return
            self.join()
            self.sync()

    def leave(self) -> LeaveGroupResponse:
        response = self.coordinator.ask(
            LeaveGroupRequest(GROUP, "", [MemberIdentity(self.id, self.instance_id)]), 5
        )
        assert isinstance(response, LeaveGroupResponse)
        return response


def settle(*consumers: Consumer, rounds: int = 10) -> None:
    """Let everybody send heartbeats until nothing is written any more."""
    for _ in range(rounds):
        lengths = len(consumers[0].coordinator.log)
        for consumer in consumers:
            consumer.beat()
        if len(consumers[0].coordinator.log) == lengths:
            return
    raise AssertionError("it does not settle")
