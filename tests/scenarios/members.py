"""The consumers of the stories: they join, send heartbeats, and take what they are given, as Kafka's clients do.

    protocol=consumer      KIP-848: the broker assigns; a heartbeat tells what is owned, and its answer what is to be
    protocol=eager         the classic protocol: all let go of everything and join, and their leader assigns
    protocol=cooperative   the same, but members keep what they have; nobody is given what another owns (KIP-429)

Ids of classic members are the broker's to choose, so stories know everybody by the name that they gave it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from andiron.wire.consumer_protocol import (
    AssignedTopic,
    Assignment,
    Subscription,
    read_assignment,
    versioned_bytes,
)
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions as Owned
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from andiron.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from worlds.cluster_coordinators import GROUP, coordinator_of, patiently
from worlds.node import error_of

SESSION_MS, REBALANCE_MS = 45_000, 60_000
LEAVES, LEAVES_FOR_A_WHILE = -1, -2  # member epochs, of dynamic and of static members


@dataclass(slots=True)
class Member:
    """One consumer; `id` and `epoch` (or generation) are what its coordinator gave it."""

    name: str
    group: str
    topic: str
    protocol: str
    instance: str | None
    id: str = ""
    epoch: int = 0
    owned: list[int] = field(default_factory=list)
    told: list[int] | None = None  # what it said last that it owns


class Members:
    """All consumers of a story."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self._members: dict[str, Member] = {}

    def join(
        self,
        group: str,
        names: tuple[str, ...],
        topic: str = "",
        protocol: str = "consumer",
        instance: str = "",
    ) -> list[str]:
        """Join, or join again; of the classic protocol all that are named at once. Options are for who is new."""
        for name in names:
            if name not in self._members:
                self._members[name] = Member(name, group, topic, protocol, instance or None)
        members = [self._members[name] for name in names]
        if members[0].protocol == "consumer":
            for member in members:
                member.id, member.epoch, member.owned, member.told = member.name, 0, [], None
            return [line for member in members for line in self._beat(member)]
        return self._rebalance(members)

    def restart(self, name: str) -> None:
        member = self._members[name]
        self._members[name] = Member(name, member.group, member.topic, member.protocol, member.instance)

    def heartbeat(self, name: str) -> list[str]:
        member = self._members[name]
        if member.protocol == "consumer":
            return self._beat(member)
        request = HeartbeatRequest(member.group, member.epoch, member.id, member.instance)
        error = error_of(self._ask(member, request))
        return [f"{name}: {'generation ' + str(member.epoch) if error == 'NONE' else error}"]

    def leave(self, name: str) -> list[str]:
        member = self._members[name]
        if member.protocol == "consumer":
            member.epoch = LEAVES_FOR_A_WHILE if member.instance else LEAVES
            return self._beat(member)
        identity = MemberIdentity(member.id, member.instance)
        answer = self._ask(member, LeaveGroupRequest(member.group, "", [identity]))
        return [] if answer.members[0].error_code == 0 else [error_of(answer.members[0])]

    def _ask(self, member: Member, request: Any) -> Any:
        return patiently(self._cluster, GROUP, member.group, request)

    # ── KIP-848 ──────────────────────────────────────────────────────────────────────

    def _beat(self, member: Member) -> list[str]:
        """A heartbeat: all of it when it joins, then only what has changed; then do what the answer says."""
        request = ConsumerGroupHeartbeatRequest(
            member.group, member.id, member.epoch, instance_id=member.instance
        )
        topic_id = self._cluster.image.topics[member.topic].id
        if member.epoch == 0:
            request.rebalance_timeout_ms, request.subscribed_topic_names = REBALANCE_MS, [member.topic]
        if member.owned != member.told and member.epoch >= 0:
            request.topic_partitions = [Owned(topic_id, member.owned)] if member.owned else []
        said = list(member.owned)
        answer = self._ask(member, request)
        if answer.error_code:
            return [f"{member.name}: {error_of(answer)}"]
        member.told, member.epoch = said, answer.member_epoch
        told = f"{member.name}: epoch {member.epoch}"
        if member.epoch < 0:
            return [f"{member.name}: left"]
        if answer.assignment is not None:
            topics = answer.assignment.topic_partitions
            member.owned = sorted(index for each in topics for index in each.partitions)
            told += f", assigned {_names(member.topic, member.owned)}"
        return [told]

    # ── classic ──────────────────────────────────────────────────────────────────────

    def _rebalance(self, members: list[Member]) -> list[str]:
        """JoinGroup by all, who is new first; then SyncGroup by all, the leader first, with what it assigns."""
        joined = {
            member.name: self._joining(member) for member in sorted(members, key=lambda each: bool(each.id))
        }
        self._cluster.until(lambda: all(joined.values()))
        answers = {name: answer[0] for name, answer in joined.items()}
        refused = [f"{name}: {error_of(each)}" for name, each in answers.items() if each.error_code]
        if refused:
            return refused
        for member in members:
            member.id, member.epoch = answers[member.name].member_id, answers[member.name].generation_id
        leads = next((each for each in members if answers[each.name].leader == each.id), None)
        skip = leads is None or answers[leads.name].skip_assignment
        shares = {} if leads is None or skip else self._assigned(leads, answers[leads.name].members)
        for member in sorted(members, key=lambda each: each is not leads):
            given = [
                SyncGroupRequestAssignment(
                    id, versioned_bytes(Assignment([AssignedTopic(member.topic, share)]), 1)
                )
                for id, share in shares.items()
                if member is leads
            ]
            request = SyncGroupRequest(
                member.group, member.epoch, member.id, member.instance, "consumer", "range", given
            )
            answer = self._ask(member, request)
            topics = read_assignment(answer.assignment).assigned_partitions if answer.assignment else []
            member.owned = sorted(index for each in topics for index in each.partitions)
        return [
            f"{member.name}: generation {member.epoch}, assigned {_names(member.topic, member.owned)}"
            for member in members
        ]

    def _joining(self, member: Member) -> list[Any]:
        """Send JoinGroup, with an id that it is given first; a list that the answer comes into."""
        owned = [AssignedTopic(member.topic, member.owned)] if member.protocol == "cooperative" else []
        subscription = versioned_bytes(Subscription([member.topic], None, owned), 1)
        request = JoinGroupRequest(
            member.group, SESSION_MS, REBALANCE_MS, member.id, member.instance, "consumer",
            [JoinGroupRequestProtocol("range", subscription)],
        )  # fmt: skip
        at = coordinator_of(self._cluster, GROUP, member.group)
        if not member.id and member.instance is None:
            request.member_id = self._ask(member, request).member_id  # MEMBER_ID_REQUIRED (KIP-394)
        answers: list[Any] = self._cluster.ask(at, request)
        return answers

    def _assigned(self, leader: Member, joined: list[Any]) -> dict[str, list[int]]:
        """What a client that leads assigns: equal shares, by name; what another owns has to be let go first."""
        by_id = {each.id: each for each in self._members.values() if each.id}
        ids = sorted((each.member_id for each in joined), key=lambda id: by_id[id].name)
        partitions = sorted(self._cluster.image.topics[leader.topic].partitions)
        shares = {id: partitions[at :: len(ids)] for at, id in enumerate(ids)}
        if leader.protocol != "cooperative":
            return shares
        owners = {index: id for id in ids for index in by_id[id].owned}
        return {id: [index for index in share if owners.get(index, id) == id] for id, share in shares.items()}


def _names(topic: str, partitions: list[int]) -> str:
    return " ".join(f"{topic}-{index}" for index in partitions) or "nothing"
