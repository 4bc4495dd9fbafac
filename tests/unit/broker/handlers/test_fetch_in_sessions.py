"""Sessions: what a client need not say again, and what it is not told again."""

import pytest

from andiron.wire.messages.fetch import ForgottenTopic
from worlds.fetching import asking, fill_three_partitions, sizes, told, wait_for
from worlds.node import SmallNode, error_of


@pytest.fixture
def wide(node):
    fill_three_partitions(node)
    return node


def in_session(session, epoch, partitions=(), **how):
    return asking(dict(partitions), session_id=session, session_epoch=epoch, **how)


@pytest.fixture
def session(wide):
    """A session over three partitions, all of which have been read to the end."""
    opened = wide.ask(in_session(0, 0, {0: 3, 1: 3, 2: 3}), 12)
    assert opened.session_id > 0
    assert sizes(opened) == [0, 0, 0], "the first answer names every partition"
    return opened.session_id


def test_a_session_answers_only_with_what_is_new(wide, session):
    wide.produce("t", b"x", partition=1)

    response = wide.ask(in_session(session, 1), 12)

    assert (response.session_id, told(response)) == (session, {1: [b"x"]})


def test_a_session_that_has_nothing_new_waits_and_then_says_nothing(wide, session):
    ticket = wait_for(wide, in_session(session, 1, wait_ms=500))

    wide.advance(500)

    assert wide.answer(ticket).responses == []


def test_a_session_is_moved_on_by_naming_what_moved(wide, session):
    wide.produce("t", b"x", partition=1)
    wide.ask(in_session(session, 1), 12)

    assert told(wide.ask(in_session(session, 2, {1: 4}), 12)) == {}
    assert told(wide.ask(in_session(session, 3, {1: 3}), 12)) == {1: [b"x"]}


def test_a_session_may_take_in_and_forget_partitions(node):
    node.create("t", partitions=2)
    opened = node.ask(in_session(0, 0, {0: 0}), 12).session_id
    node.ask(in_session(opened, 1, {1: 0}, forgotten_topics_data=[ForgottenTopic("t", partitions=[0])]), 12)
    for partition in (0, 1):
        node.produce("t", b"x", partition=partition)

    assert told(node.ask(in_session(opened, 2), 12)) == {1: [b"x"]}


def test_a_moved_log_start_is_news(wide, session):
    wide.delete_records("t", 2)

    [partition] = wide.ask(in_session(session, 1), 12).responses[0].partitions

    assert (partition.partition_index, partition.log_start_offset, len(partition.records)) == (0, 2, 0)


def test_an_error_is_news_until_it_is_over(node):
    node.create("t")
    opened = node.ask(in_session(0, 0, {0: 0, 1: 0}), 12).session_id

    for epoch in (1, 2):
        [answer] = node.ask(in_session(opened, epoch), 12).responses[0].partitions
        assert (answer.partition_index, error_of(answer)) == (1, "UNKNOWN_TOPIC_OR_PARTITION")


def test_partitions_of_a_session_take_turns(wide):
    opened = wide.ask(in_session(0, 0, {0: 0, 1: 0, 2: 0}, max_bytes=1), 12)
    seen = [next(p for p, found in told(opened).items() if found)]
    for epoch in (1, 2):
        response = wide.ask(in_session(opened.session_id, epoch, {seen[-1]: 3}, max_bytes=1), 12)
        seen += [p for p, found in told(response).items() if found]

    assert sorted(seen) == [0, 1, 2]


def test_a_batch_that_found_too_little_room_is_not_forgotten(wide):
    [first] = wide.ask(asking({0: 0}), 12).responses[0].partitions
    room = len(first.records) + 10  # for the first partition's batch, and never for a second
    opened = wide.ask(in_session(0, 0, {0: 0, 1: 0, 2: 0}, max_bytes=room), 12)
    seen = [partition for partition, found in told(opened).items() if found]
    for epoch in (1, 2):
        response = wide.ask(in_session(opened.session_id, epoch, {seen[-1]: 3}, max_bytes=room), 12)
        seen += [partition for partition, found in told(response).items() if found]

    assert sorted(seen) == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "code"),
    [((1, 0), "FETCH_SESSION_ID_NOT_FOUND"), ((0, 1), "INVALID_FETCH_SESSION_EPOCH")],
)
def test_a_session_that_is_not_as_the_client_thinks(wide, session, change, code):
    response = wide.ask(in_session(session + change[0], 1 + change[1]), 12)

    assert (error_of(response), response.responses) == (code, [])


def test_names_and_ids_do_not_mix_in_a_session(wide, session):
    assert error_of(wide.ask(in_session(session, 1), 13)) == "FETCH_SESSION_TOPIC_ID_ERROR"


def test_a_session_that_is_closed_is_not_found_again(wide, session):
    closing = wide.ask(in_session(session, -1, {0: 0}), 12)

    assert (closing.session_id, sizes(closing)) == (0, [3])
    assert error_of(wide.ask(in_session(session, 1), 12)) == "FETCH_SESSION_ID_NOT_FOUND"


def test_where_sessions_are_turned_off_every_fetch_is_a_full_one():
    node = SmallNode(max_incremental_fetch_session_cache_slots="0")
    node.create("t")

    assert node.ask(in_session(0, 0, {0: 0}), 12).session_id == 0
