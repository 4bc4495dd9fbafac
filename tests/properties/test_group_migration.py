"""Groups whose members speak either protocol, coming and going in any order, so that the group changes its own.

Whatever the order: as long as the broker assigns, a partition has one owner; whoever speaks the classic protocol reads
only what it holds; the group comes to rest under the protocol that its members call for, with every partition read; and
another broker makes the same of the log.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from andiron.groups.consumer.group import ConsumerGroup
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.machine import Promise
from andiron.wire.consumer_protocol import AssignedTopic, Assignment, versioned_bytes
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from groups.consumers import GROUP, Catalogue, Consumer, Coordinator, OldConsumer

PARTITIONS = 6
INTERVAL_MS = 3_000
places = st.integers(0, 5)


class Migrations(RuleBasedStateMachine):
    """One group and its members of both kinds."""

    def __init__(self):
        super().__init__()
        self.coordinator = Coordinator(Catalogue(t=PARTITIONS), group_initial_rebalance_delay_ms=0)
        self.news: list[Consumer] = []
        self.olds: list[OldConsumer] = []
        self.joining: dict[int, Promise] = {}  # of old ones that wait for the others
        self.syncing: dict[int, Promise] = {}  # and for their leader
        self.made = 0

    @property
    def group(self):
        return self.coordinator.groups.get(GROUP)

    @property
    def assigns(self):
        return isinstance(self.group, ConsumerGroup)

    # ── those who speak the new protocol ─────────────────────────────────────────────

    @rule()
    def new_joins(self):
        if len(self.news) < 3:
            self.made += 1
            new = Consumer(self.coordinator, f"n{self.made}", "t")
            new.beat()
            self.news.append(new)

    @rule(place=places)
    def new_beats(self, place):
        if self.news:
            self.beat_new(self.news[place % len(self.news)])

    def beat_new(self, new):
        try:
            new.beat()
        except ProtocolError as error:
            assert error.code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)
            new.fenced()
            new.beat()

    @rule(place=places, says_so=st.booleans())
    def new_goes(self, place, says_so):
        if self.news:
            new = self.news.pop(place % len(self.news))
            if says_so:
                try:
                    new.leave()
                except ProtocolError as error:
                    assert error.code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)

    # ── those who speak the classic one ──────────────────────────────────────────────

    @rule(eager=st.booleans())
    def old_comes(self, eager):
        if len(self.olds) < 3:
            old = OldConsumer(self.coordinator, "t", eager=eager)
            self.olds.append(old)
            self.join(old)

    @rule(place=places)
    def old_beats(self, place):
        if self.olds:
            self.beat_old(self.olds[place % len(self.olds)])

    def beat_old(self, old):
        if id(old) in self.joining or id(old) in self.syncing:
            return self.hear(old)
        code = old.beat() if old.id else ErrorCode.UNKNOWN_MEMBER_ID
        if code is ErrorCode.NONE:
            return None
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            old.owned = {}
            old.id = "" if code is ErrorCode.UNKNOWN_MEMBER_ID else old.id
        return self.join(old)

    def join(self, old):
        """Ask to join. It may have to wait for the others."""
        if old.eager:
            old.owned = {}
        try:
            response = self.coordinator.ask(old.request(), 9)
            if (
                not isinstance(response, Promise)
                and response.error_code == ErrorCode.MEMBER_ID_REQUIRED.number
            ):
                old.id = response.member_id
                response = self.coordinator.ask(old.request(), 9)
        except ProtocolError as error:
            assert error.code is ErrorCode.UNKNOWN_MEMBER_ID
            old.id, old.owned = "", {}
            return
        if isinstance(response, Promise):
            self.joining[id(old)] = response
            self.coordinator.pass_time(1)
            self.hear(old)
        else:
            self.joined(old, response)

    def hear(self, old):
        """See whether it need not wait any longer."""
        for waiting, take in ((self.syncing, OldConsumer.take_assignment), (self.joining, self.joined)):
            promise = waiting.get(id(old))
            if promise is not None and promise.kept:
                del waiting[id(old)]
                take(old, promise.response)

    def joined(self, old, response):
        if response.error_code:
            assert response.error_code in (
                ErrorCode.REBALANCE_IN_PROGRESS.number,
                ErrorCode.UNKNOWN_MEMBER_ID.number,
            )
            if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID.number:
                old.id, old.owned = "", {}
            return
        old.generation = response.generation_id
        assigned = []
        if response.leader == old.id:
            ids = sorted(member.member_id for member in response.members)
            for place, member_id in enumerate(ids):
                share = [AssignedTopic("t", list(range(place, PARTITIONS, len(ids))))]
                assigned.append(SyncGroupRequestAssignment(member_id, versioned_bytes(Assignment(share), 1)))
        self.sync(old, assigned)

    def sync(self, old, assigned):
        request = SyncGroupRequest(GROUP, old.generation, old.id, None, "consumer", "range", assigned)
        try:
            response = self.coordinator.ask(request, 5)
        except ProtocolError:
            return
        if isinstance(response, Promise):
            self.syncing[id(old)] = response
        else:
            old.take_assignment(response)

    @rule(place=places, says_so=st.booleans())
    def old_goes(self, place, says_so):
        if self.olds:
            old = self.olds.pop(place % len(self.olds))
            self.joining.pop(id(old), None)
            self.syncing.pop(id(old), None)
            if says_so and old.id:
                old.leave()

    # ── everybody ────────────────────────────────────────────────────────────────────

    @rule(steps=st.integers(1, 20), heard=st.booleans())
    def time(self, steps, heard):
        for _ in range(steps):
            self.coordinator.pass_time(INTERVAL_MS)
            if heard:
                self.all_beat()

    def all_beat(self):
        for new in self.news:
            self.beat_new(new)
        for old in self.olds:
            self.beat_old(old)

    @rule()
    def fail_over(self):
        self.coordinator.reload()
        self.joining.clear()
        self.syncing.clear()

    @invariant()
    def a_partition_has_one_owner(self):
        if not self.assigns:
            return
        holders = {}
        for member in self.group.members.values():
            for held in (member.assigned, member.revoking):
                for epochs in held.values():
                    for partition in epochs:
                        assert holders.setdefault(partition, member.id) == member.id
        assert holders == next(iter(self.group.owners.values()), {})

    @invariant()
    def an_old_one_reads_only_what_it_holds(self):
        for old in self.olds if self.assigns else []:
            member = self.group.members.get(old.id)
            if member is not None and member.epoch == old.generation and id(old) not in self.syncing:
                held = {**member.assigned.get(self.topic, {}), **member.revoking.get(self.topic, {})}
                assert set(old.owned.get("t", [])) <= held.keys()

    @property
    def topic(self):
        return self.coordinator.topics.id("t")

    @rule()
    def come_to_rest(self):
        for _ in range(45):
            self.coordinator.pass_time(INTERVAL_MS)
            self.all_beat()
        if self.news:
            assert self.assigns
        if self.olds and not self.news:
            assert not self.assigns
        if self.news or self.olds:
            assert self.group.state == "Stable"
            self.all_of_it_is_read()
            self.the_log_says_the_same()

    def all_of_it_is_read(self):
        if self.assigns:
            read = [partition for new in self.news for partition in new.partitions()]
            read += [partition for old in self.olds for partition in old.owned.get("t", [])]
            assert sorted(read) == list(range(PARTITIONS))

    def the_log_says_the_same(self):
        again = Coordinator(self.coordinator.topics)
        again.log = self.coordinator.log
        again.reload()
        assert again.groups[GROUP].kind == self.group.kind
        assert again.groups[GROUP].members.keys() == self.group.members.keys()
        assert again.groups[GROUP].state == self.group.state

    def teardown(self):
        self.come_to_rest()


Migrations.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestMigrations = Migrations.TestCase
