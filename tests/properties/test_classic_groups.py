"""Whatever the members of a classic group do, in whatever order, and whenever they stop doing it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from andiron.groups.classic.group import SESSION, ClassicGroup
from andiron.groups.classic.records import written
from andiron.groups.classic.states import ClassicState
from andiron.groups.group import TimerKey
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.machine import Promise
from groups.classic import GROUP, Classic
from properties.effort import tries

SIZE_MAX = 4
LONGEST_MS = 10 * 60 * 1000  # longer than any timeout in here: after it, nobody waits

protocols = st.sampled_from(
    [{"range": b"r"}, {"range": b"r", "robin": b"b"}, {"robin": b"b", "range": b"x"}, {"other": b"o"}]
)


@dataclass
class Client:
    """A client as it sees itself."""

    instance: str | None
    member_id: str = ""
    generation: int = -1
    leads: bool = False
    members: list[str] = field(default_factory=list)
    protocol: str | None = None
    waits: Promise | None = None
    synced: bool = False  # it has got its assignment and need not join again


class Members(RuleBasedStateMachine):
    """Some clients, dynamic and static, at a coordinator whose group has room for fewer of them."""

    def __init__(self) -> None:
        super().__init__()
        self.classic = Classic(group_max_size=SIZE_MAX)
        self.clients = [Client(None) for _ in range(4)] + [Client("s1"), Client("s2"), Client("s2")]
        self.promises: list[Promise] = []
        self.generations: dict[
            int, tuple[str, str]
        ] = {}  # the leader and the protocol that were told for each
        self.assigned: dict[tuple[int, str], bytes] = {}
        self.highest = self.moves = 0

    # ── what clients do ──────────────────────────────────────────────────────────────

    client_numbers = st.integers(0, 6)

    @initialize(numbers=st.lists(client_numbers, max_size=5, unique=True))
    def begin(self, numbers: list[int]) -> None:
        """Some come at the same time, so that they are soon stable."""
        self.behave(numbers * 2, 0)
        self.classic.pass_time(7_000)
        self.behave(numbers * 3, 0)

    @rule(number=client_numbers, said=protocols, version=st.sampled_from([0, 3, 5, 9]), slow=st.booleans())
    def join(self, number: int, said: dict[str, bytes], version: int, slow: bool) -> None:
        self._join(self.clients[number], said, version, 60_000 if slow else 20_000)

    @rule(number=client_numbers)
    def sync(self, number: int) -> None:
        self._sync(self.clients[number])

    @rule(
        numbers=st.lists(client_numbers, min_size=3, max_size=20),
        pause_ms=st.sampled_from([0, 1, 500, 3_000]),
    )
    def behave(self, numbers: list[int], pause_ms: int) -> None:
        """Clients do what clients should, each in its turn."""
        for number in numbers:
            client = self.clients[number]
            if client.waits is not None:
                self.classic.pass_time(pause_ms)
                self._learn()
            elif client.synced:
                self._heartbeat(client)
            elif client.generation >= 0:
                self._sync(client)
            else:
                self._join(client, {"range": b"r", "robin": b"b"}, 9, 60_000)

    def _join(self, client: Client, said: dict[str, bytes], version: int, rebalance_ms: int) -> None:
        instance = client.instance if version >= 5 else None
        self._asked(
            client,
            lambda: self.classic.join(
                client.member_id, said, instance=instance, version=version, rebalance_ms=rebalance_ms
            ),
        )

    def _sync(self, client: Client) -> None:
        everything = {each: f"{client.generation}:{each}".encode() for each in client.members}
        self._asked(
            client,
            lambda: self.classic.sync(
                client.member_id,
                client.generation,
                everything if client.leads else {},
                instance=client.instance,
                protocol=client.protocol or "range",
            ),
        )

    @rule(number=client_numbers)
    def heartbeat(self, number: int) -> None:
        self._heartbeat(self.clients[number])

    def _heartbeat(self, client: Client) -> None:
        self._asked(
            client,
            lambda: self.classic.heartbeat(client.member_id, client.generation, instance=client.instance),
        )

    @rule(number=client_numbers)
    def leave(self, number: int) -> None:
        client = self.clients[number]
        self.classic.leave(client.member_id)
        self._learn()

    @rule(number=client_numbers)
    def restart(self, number: int) -> None:
        """It forgets all it knew, and nobody hears the answer to what it asked."""
        self.clients[number] = Client(self.clients[number].instance)

    @rule(by_ms=st.sampled_from([1, 1_000, 3_000, 9_000, 11_000, 21_000, 61_000]))
    def time_passes(self, by_ms: int) -> None:
        self.classic.pass_time(by_ms)
        self._learn()

    @rule()
    def next_deadline(self) -> None:
        due = self.classic.context.timers.next_deadline()
        self.classic.pass_time(max(0, min(due - self.classic.now, LONGEST_MS)))
        self._learn()

    @rule()
    def coordinator_moves(self) -> None:
        """Another broker takes over, and knows what was written. Whoever waits is sent there by the node."""
        self.moves += 1
        self.classic = Classic(self.classic.log, self.classic.now, self.moves, group_max_size=SIZE_MAX)
        self.promises.clear()
        for client in self.clients:
            client.waits = None
        self.highest = self._group.generation if self._group is not None else 0
        for generation in [each for each in self.generations if each > self.highest]:
            del self.generations[generation]

    def _asked(self, client: Client, ask: Any) -> None:
        if client.waits is not None:  # it gives up on that, as on a connection that is lost
            client.waits = None
        try:
            response = ask()
        except ProtocolError as error:
            self._refused(client, error.code)
        else:
            if isinstance(response, Promise):
                self.promises.append(response)
                client.waits = response
            else:
                self._told(client, response)
        self._learn()

    def _learn(self) -> None:
        for client in self.clients:
            if client.waits is not None and client.waits.kept:
                response, client.waits = client.waits.response, None
                self._told(client, response)
        self.promises = [promise for promise in self.promises if not promise.kept]

    def _refused(self, client: Client, code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            client.generation, client.synced = -1, False
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            client.member_id = ""

    def _told(self, client: Client, response: Any) -> None:
        if isinstance(response, ErrorCode):
            return self._refused(client, response)
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED.number:
            client.member_id = response.member_id
        elif response.error_code:
            code = next(code for code in ErrorCode if code.number == response.error_code)
            self._refused(client, code)
        elif hasattr(response, "generation_id"):
            self._joined(client, response)
        else:
            self._got(client, response.assignment)
        return None

    def _joined(self, client: Client, response: Any) -> None:
        client.member_id, client.generation = response.member_id, response.generation_id
        client.protocol, client.synced = response.protocol_name, False
        client.leads = response.leader == response.member_id and not response.skip_assignment
        client.members = [each.member_id for each in response.members]
        if response.leader == response.member_id:
            assert response.member_id in client.members
        known = self.generations.setdefault(client.generation, response.protocol_name)
        assert known == response.protocol_name, "a generation has one protocol"

    def _got(self, client: Client, assignment: bytes) -> None:
        client.synced = True
        if assignment:
            generation, _, owner = assignment.decode().partition(":")
            assert int(generation) == client.generation
            before = self.assigned.setdefault((client.generation, owner), assignment)
            assert before == assignment

    # ── what must hold ───────────────────────────────────────────────────────────────

    @property
    def _group(self) -> ClassicGroup | None:
        group = self.classic.context.groups.get(GROUP)
        assert group is None or isinstance(group, ClassicGroup)
        return group

    @invariant()
    def the_tables_agree(self) -> None:
        group = self._group
        if group is None:
            return
        members = group.members
        assert group.joining == sum(member.join is not None for member in members.values())
        assert all(id == member.id for id, member in members.items())
        statics = {member.instance_id: id for id, member in members.items() if member.instance_id}
        assert len(statics) == sum(member.instance_id is not None for member in members.values())
        assert all(group.static_member(instance).id == id for instance, id in statics.items())
        assert not group.pending.keys() & members.keys()
        assert set(group.unsynced) <= set(members)
        assert (group.state == ClassicState.EMPTY) <= (not members)
        assert (group.leader in members) if members else group.leader is None

    @invariant()
    def a_generation_is_of_one_mind(self) -> None:
        group = self._group
        if group is None or not group.members or group.state == ClassicState.PREPARING_REBALANCE:
            return
        assert all(group.protocol in member.protocols for member in group.members.values())
        assert all(member.join is None for member in group.members.values()), "all have been told"
        if group.state == ClassicState.STABLE:
            assert all(member.sync is None for member in group.members.values())
        else:
            assert group.members[group.leader].sync is None, "the leader does not wait for itself"

    @invariant()
    def generations_only_grow(self) -> None:
        group = self._group
        if group is not None:
            assert group.generation >= self.highest
            self.highest = group.generation

    @invariant()
    def whoever_is_silent_can_be_missed(self) -> None:
        group = self._group
        if group is None:
            return
        timers = self.classic.context.timers
        for member in group.members.values():
            assert member.may_be_silent or TimerKey(SESSION, GROUP, member.id) in timers
        assert all(TimerKey(SESSION, GROUP, id) in timers for id in group.pending)
        if group.state == ClassicState.PREPARING_REBALANCE:
            assert TimerKey("classic-join", GROUP) in timers
        assert (TimerKey("classic-sync", GROUP) in timers) == bool(group.unsynced)
        assert len(timers) <= len(group.members) + len(group.pending) + 2

    @invariant()
    def a_client_that_was_promised_something_is_a_member_that_waits(self) -> None:
        group = self._group
        waiting = [] if group is None else [each for m in group.members.values() for each in (m.join, m.sync)]
        for promise in self.promises:
            assert any(promise is each for each in waiting)

    @invariant()
    def the_log_tells_the_same_story(self) -> None:
        group = self._group
        if (
            group is None
            or group.state not in (ClassicState.STABLE, ClassicState.EMPTY)
            or not self.classic.log
        ):
            return
        again = self.classic.made_again().group()
        if group.state == ClassicState.STABLE or group.generation:
            assert written(again) == written(group)
            assert again.state == group.state

    def teardown(self) -> None:
        """When time has passed and nobody does anything, nobody waits, and dynamic members are gone."""
        self.classic.pass_time(LONGEST_MS)
        self._learn()
        assert self.promises == []
        if self._group is not None:
            assert self._group.state == ClassicState.EMPTY and not self._group.pending
        assert len(self.classic.context.timers) == 0


Members.TestCase.settings = settings(max_examples=tries(120), stateful_step_count=40, deadline=None)
test_members_of_classic_groups = Members.TestCase
