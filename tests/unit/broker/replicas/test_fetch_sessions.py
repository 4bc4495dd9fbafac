"""Sessions open, advance, are fenced by their epoch, and give way when there are too many."""

import pytest

from andiron.broker.replicas import fetch_sessions
from andiron.broker.replicas.fetch_sessions import FetchSessions, distinct_partitions_of
from andiron.model.chance import Chance
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic


def asking(*partitions, session=0, epoch=0, forget=()):
    return FetchRequest(
        session_id=session,
        session_epoch=epoch,
        topics=[
            FetchTopic("orders", partitions=[FetchPartition(p, fetch_offset=at) for p, at in partitions])
        ],
        forgotten_topics_data=[ForgottenTopic("orders", partitions=list(forget))] if forget else [],
    )


@pytest.fixture
def sessions():
    return FetchSessions(slots=2, chance=Chance(1))


def offsets(session):
    return {asked.wanted.partition: asked.wanted.fetch_offset for asked in session.partitions()}


def code_of(sessions, request, version=12):
    with pytest.raises(ProtocolError) as caught:
        sessions.enter(request, version, now=0)
    return caught.value.code


def test_a_session_remembers_what_was_asked(sessions):
    opened = sessions.enter(asking((0, 10), (1, 20)), 12, now=0)
    again = sessions.enter(asking((1, 25), session=opened.id, epoch=1), 12, now=1)

    assert again is opened
    assert offsets(again) == {0: 10, 1: 25}


def test_what_is_forgotten_is_gone(sessions):
    opened = sessions.enter(asking((0, 10), (1, 20)), 12, now=0)
    gone = [ForgottenTopic("orders", partitions=[0])]
    sessions.enter(FetchRequest(session_id=opened.id, session_epoch=1, forgotten_topics_data=gone), 12, now=1)

    assert offsets(opened) == {1: 20}


def test_under_another_isolation_level_all_are_looked_at_again(sessions):
    opened = sessions.enter(asking((0, 10), (1, 20)), 12, now=0)
    for asked in opened.partitions():
        opened.rest(asked)
    sessions.enter(FetchRequest(session_id=opened.id, session_epoch=1), 12, now=1)
    assert not opened.fresh

    sessions.enter(FetchRequest(session_id=opened.id, session_epoch=2, isolation_level=1), 12, now=2)

    assert list(opened.fresh.values()) == opened.partitions()


def test_a_partition_that_a_follower_names_again_is_told_again(sessions):
    opened = sessions.enter(asking((0, 10)), 12, now=0)
    (asked,) = opened.partitions()
    asked.watermark_told = 10
    sessions.enter(asking((0, 11), session=opened.id, epoch=1), 12, now=1)
    assert asked.watermark_told == 10, "a consumer has one fetch under way at a time"

    opened.is_replicas = True
    sessions.enter(asking((0, 12), session=opened.id, epoch=2), 12, now=2)

    assert asked.watermark_told == -1


def test_a_fetch_without_a_session_opens_none(sessions):
    assert sessions.enter(asking((0, 0), epoch=-1), 12, now=0) is None
    assert len(sessions) == 0


def test_the_last_epoch_closes_the_session(sessions):
    opened = sessions.enter(asking((0, 0)), 12, now=0)

    assert sessions.enter(asking((0, 0), session=opened.id, epoch=-1), 12, now=0) is None
    assert code_of(sessions, asking(session=opened.id, epoch=1)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_skipped_or_repeated_epoch_is_refused(sessions):
    opened = sessions.enter(asking((0, 0)), 12, now=0)

    refused = code_of(sessions, asking(session=opened.id, epoch=2))
    assert refused is ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_names_and_ids_do_not_mix(sessions):
    opened = sessions.enter(asking((0, 0)), 12, now=0)

    refused = code_of(sessions, asking(session=opened.id, epoch=1), version=13)
    assert refused is ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_the_epoch_starts_over_at_one(sessions):
    opened = sessions.enter(asking((0, 0)), 12, now=0)
    opened.epoch = (1 << 31) - 1
    sessions.enter(FetchRequest(session_id=opened.id, session_epoch=(1 << 31) - 1), 12, now=0)

    assert opened.epoch == 1


def test_a_full_house_lets_in_a_newcomer_only_for_an_idle_session(sessions):
    first = sessions.enter(asking((0, 0)), 12, now=0)
    sessions.enter(asking((0, 0)), 12, now=100)

    assert sessions.enter(asking((0, 0)), 12, now=200) is None
    assert sessions.enter(asking((0, 0)), 12, now=120_000) is not None
    assert code_of(sessions, asking(session=first.id, epoch=1)) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_partition_that_was_served_goes_to_the_end_of_the_line(sessions):
    session = sessions.enter(asking((0, 0), (1, 0), (2, 0)), 12, now=0)
    session.served(session.partitions()[0].key)

    assert [asked.wanted.partition for asked in session.partitions()] == [1, 2, 0]


def test_the_partitions_of_all_sessions_together_are_bounded(monkeypatch):
    monkeypatch.setattr(fetch_sessions, "PARTITIONS_MAX", 5)
    sessions = FetchSessions(slots=9, chance=Chance(1))
    first = sessions.enter(asking((0, 0), (1, 0), (2, 0)), 12, now=0)

    assert sessions.enter(asking((0, 0), (1, 0), (2, 0)), 12, now=0) is None
    second = sessions.enter(asking((0, 0)), 12, now=0)
    growing = asking((3, 0), (4, 0), session=second.id, epoch=1)
    assert code_of(sessions, growing) is ErrorCode.FETCH_SESSION_ID_NOT_FOUND, (
        "it opens another, if there is room"
    )
    sessions.enter(asking(session=first.id, epoch=1, forget=(0, 1)), 12, now=0)
    assert sessions.enter(asking((0, 0), (1, 0), (2, 0), (3, 0)), 12, now=0) is not None


def test_without_a_session_what_is_named_twice_counts_as_it_is_named_last():
    asked = distinct_partitions_of(asking((0, 1), (1, 2), (0, 3)))

    assert [(each.wanted.partition, each.wanted.fetch_offset) for each in asked] == [(0, 3), (1, 2)]
