"""A member of a group that assigns on the broker: heartbeats, and does as the answers say.

    "I am here, I own nothing" ─▶ "epoch 3: read 0 and 1" ─▶ "I own 0 and 1" ─▶ … ─▶ "read 0" ─▶ "I own 0"

It gives up what it is not told any more before it says what it owns, and takes what is new after that. A heartbeat that
got no answer is sent again with all there is to say. One that is fenced lets go of everything and comes again.
"""

from __future__ import annotations

from typing import Any

from andiron.model.errors import ErrorCode
from andiron.sim.clients.client import Gone, Script, Topic
from andiron.sim.clients.member import COMMITS_WITH_EPOCH, Member
from andiron.sim.clients.patient import Asking
from andiron.sim.clients.signposts import passes
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions

JOINING, LEAVING, AWAY = 0, -1, -2
OWN_ID_SINCE = 1


class ConsumerMember(Member):
    """One who heartbeats."""

    says_all = says_owned = True  # in the next heartbeat: the coordinator may not know

    def turn(self, topic: Topic) -> Script:
        yield from self._heartbeat(topic)
        yield from self.find_places(topic)
        self.may_drop_dead()
        if self.chance.random() < 0.4:
            yield from self.commit(topic, COMMITS_WITH_EPOCH)
        if self.rounds_are_over():
            yield from self.leave()
            self.begin_anew()

    def was_interrupted(self) -> None:
        self.says_all, self.settled = True, False
        self.signposts.forget(self.key)

    def begin_anew(self) -> None:
        super().begin_anew()
        self.says_all = True

    def was_refused(self, code: ErrorCode) -> Script:
        if code is ErrorCode.STALE_MEMBER_EPOCH:
            return  # of a commit: the next heartbeat brings the new epoch
        member_id = self.member_id if self.chance.random() < 0.5 else ""
        self.begin_anew()
        self.member_id = member_id
        yield self.chance.choice([10, 500, 3_000] if code is not ErrorCode.UNKNOWN_MEMBER_ID else [1, 50])

    def leave(self) -> Script:
        is_static = self.habits.instance_id is not None and self.chance.random() < 0.7
        request = ConsumerGroupHeartbeatRequest(
            self.habits.group, self.member_id, AWAY if is_static else LEAVING, self.habits.instance_id
        )
        yield from self.insist(request, OWN_ID_SINCE, _code, of=self.key, again=True, tries=3)

    # ── heartbeats ───────────────────────────────────────────────────────────────────

    def _heartbeat(self, topic: Topic) -> Asking:
        if not self.member_id:
            self.member_id = f"{self.name}-{self.chance.getrandbits(32):08x}"
        try:
            coordinator = yield from self.at_coordinator(self.key)
            response = yield self.ask(self._request(topic), OWN_ID_SINCE, via=coordinator)
        except Gone:
            self.says_all = True
            raise
        code = ErrorCode.of(response.error_code)
        if passes(code):
            self.was_sent_away(self.key, code)
            self.says_all = True
            yield 50
            return
        if code is not ErrorCode.NONE:
            yield from self.was_refused(code)
            return
        self.says_all = self.says_owned = False
        if response.assignment is not None:
            told = [index for one in response.assignment.topic_partitions for index in one.partitions]
            self.commit_late([index for index in self.positions if index not in told])
            self.says_owned = sorted(told) != sorted(self.positions)
            self.own(told)
        self.epoch = response.member_epoch
        self.settled = not self.says_owned

    def _request(self, topic: Topic) -> ConsumerGroupHeartbeatRequest:
        habits = self.habits
        request = ConsumerGroupHeartbeatRequest(
            habits.group, self.member_id, max(self.epoch, JOINING), habits.instance_id
        )
        if self.says_all or self.epoch < 0:
            request.rebalance_timeout_ms = habits.rebalance_ms
            request.subscribed_topic_names = [habits.topic]
        if self.says_all or self.says_owned or self.epoch < 0:
            owned = list(self.positions)
            request.topic_partitions = [TopicPartitions(topic.id, owned)] if owned else []
        return request


def _code(response: Any) -> int:
    return int(response.error_code)
