"""How long members may take, and who says so."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.group import ConsumerGroup
from andiron.groups.consumer.member import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    Member,
    Profile,
)
from andiron.groups.consumer.sessions import JOIN, REBALANCE, SESSION, SYNC, Sessions
from andiron.groups.group import GroupContext, TimerKey
from andiron.groups.records import ClassicMemberMetadata
from andiron.groups.settings import GroupSettings
from andiron.model.chance import Chance
from andiron.model.ids import NEVER, Millis
from andiron.wire.messages.consumer_group_heartbeat import TopicPartitions
from groups.consumers import Catalogue

T = b"t" * 16
MEMBER = Member("m", Profile(rebalance_timeout_ms=60_000))
CLASSIC = Member("k", Profile(rebalance_timeout_ms=60_000, classic=ClassicMemberMetadata(10_000)))
REVOKING = MEMBER.at(5, UNREVOKED_PARTITIONS, {}, {T: {0: 4}})


class Timed:
    def __init__(self, heartbeat_ms: int = 5_000, **configs: str) -> None:
        settings = GroupSettings(group_consumer_heartbeat_interval_ms=heartbeat_ms)
        self.context = GroupContext(settings, Catalogue(), Chance(1), lambda group: configs)
        self.sessions = Sessions(self.context)

    def due(self) -> tuple[str, int] | None:
        """The first deadline, which is then over."""
        at = self.context.timers.next_deadline()
        key = self.context.timers.take(at)
        return None if key is None else (key.purpose, at)


def test_a_member_may_be_silent_for_a_session():
    timed = Timed()

    timed.sessions.heard("g", MEMBER, Millis(0))
    timed.sessions.heard("g", MEMBER, Millis(5_000))

    assert timed.due() == (SESSION, 50_000)
    assert timed.due() is None


def test_a_group_may_have_times_of_its_own_within_bounds():
    names = {"session": "consumer.session.timeout.ms", "heartbeat": "consumer.heartbeat.interval.ms"}
    own = Timed(**{names["session"]: "50000", names["heartbeat"]: "7000"}).sessions
    beyond = Timed(**{names["session"]: "1", names["heartbeat"]: "999999"}).sessions
    default = Timed().sessions

    assert (own.session_timeout_ms("g"), own.heartbeat_interval_ms("g", MEMBER)) == (50_000, 7_000)
    assert (beyond.session_timeout_ms("g"), beyond.heartbeat_interval_ms("g", MEMBER)) == (45_000, 15_000)
    assert (default.session_timeout_ms("g"), default.heartbeat_interval_ms("g", MEMBER)) == (45_000, 5_000)


def test_one_who_waits_for_a_partition_is_to_come_soon():
    waiting, revoking = MEMBER.at(5, UNRELEASED_PARTITIONS, {}), REVOKING

    assert Timed().sessions.heartbeat_interval_ms("g", waiting) == 250
    assert Timed().sessions.heartbeat_interval_ms("g", revoking) == 5_000


@pytest.mark.parametrize(("usual_ms", "soon_ms"), [(5_000, 250), (500, 100), (50, 50)])
def test_a_shortened_heartbeat_interval_is_never_below_what_clients_bear(usual_ms, soon_ms):
    waiting = MEMBER.at(5, UNRELEASED_PARTITIONS, {})

    assert Timed(heartbeat_ms=usual_ms).sessions.heartbeat_interval_ms("g", waiting) == soon_ms


def test_a_heartbeat_interval_is_not_shortened_before_the_assignment_is_acknowledged():
    sessions, waiting = Timed().sessions, MEMBER.at(5, UNRELEASED_PARTITIONS, {T: {0: 5, 1: 5}})

    sessions.tells_assignment("g", waiting, [], news=True)
    assert sessions.heartbeat_interval_ms("g", waiting) == 5_000
    sessions.tells_assignment("g", waiting, [TopicPartitions(T, [1, 0])], news=False)
    assert sessions.heartbeat_interval_ms("g", waiting) == 250


def test_a_member_is_told_what_it_is_assigned_until_it_says_that_it_owns_just_that():
    sessions, member = Timed().sessions, MEMBER.at(5, STABLE, {T: {0: 5, 1: 5}})

    def told(*owned: int | None, news: bool = False) -> bool:
        named = None if None in owned else [TopicPartitions(T, list(owned))]
        return sessions.tells_assignment("g", member, named, news=news)

    assert not told(None)
    assert told(None, news=True)
    assert told(None) and told() and told(0) and told(0, 1, 2)
    assert not told(0, 1)
    assert not told(None)


def test_who_owns_nothing_and_is_given_nothing_has_nothing_to_acknowledge():
    sessions = Timed().sessions

    assert sessions.tells_assignment("g", MEMBER, [TopicPartitions(T, [])], news=True)
    assert not sessions.tells_assignment("g", MEMBER, None, news=False)


def test_a_member_that_left_has_no_assignment_to_acknowledge():
    sessions, member = Timed().sessions, MEMBER.at(5, STABLE, {T: {0: 5}})

    sessions.tells_assignment("g", member, [], news=True)
    sessions.end("g", member.id)

    assert not sessions.tells_assignment("g", member, None, news=False)


def test_a_member_of_the_classic_protocol_has_its_own_session():
    timed = Timed()

    timed.sessions.heard("g", CLASSIC, Millis(0))

    assert timed.due() == (SESSION, 10_000)


def test_whoever_has_to_give_something_up_has_its_rebalance_timeout_for_that():
    timed = Timed()

    timed.sessions.moved("g", REVOKING, Millis(0))
    assert timed.due() == (REBALANCE, 60_000)

    timed.sessions.moved("g", REVOKING, Millis(0))
    timed.sessions.moved("g", MEMBER, Millis(0))
    assert timed.context.timers.next_deadline() == NEVER


def test_a_classic_member_must_join_within_its_rebalance_timeout_from_when_it_is_first_told():
    timed = Timed()

    timed.sessions.must_join("g", CLASSIC, Millis(0))
    timed.sessions.must_join("g", CLASSIC, Millis(5_000))

    assert timed.due() == (JOIN, 60_000)


def test_a_classic_member_must_sync_within_its_rebalance_timeout():
    timed = Timed()

    timed.sessions.must_join("g", CLASSIC, Millis(0))
    timed.sessions.has_joined("g", CLASSIC, Millis(1_000))
    assert timed.due() == (SYNC, 61_000)

    timed.sessions.has_joined("g", CLASSIC, Millis(1_000))
    timed.sessions.has_synced("g", CLASSIC)
    assert timed.due() is None


def test_nothing_is_waited_for_of_one_who_is_gone():
    timed = Timed()
    for purpose in (SESSION, REBALANCE, JOIN, SYNC):
        timed.context.timers.set(TimerKey(purpose, "g", "m"), Millis(9))

    timed.sessions.end("g", "m")

    assert timed.due() is None


def test_after_a_failover_everybody_gets_its_time_anew():
    timed, group = Timed(), ConsumerGroup("g")
    group.members["m"] = REVOKING

    timed.sessions.begin(group, Millis(1_000))

    assert [timed.due(), timed.due()] == [(SESSION, 46_000), (REBALANCE, 61_000)]
