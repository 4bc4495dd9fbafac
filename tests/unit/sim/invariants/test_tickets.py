import pytest

from andiron.sim.watcher import Violation
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from unit.sim.quiet import ORDERS


def long_poll(quiet, wait_ms):
    place = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)
    topics = [FetchTopic("orders", bytes(16), [place])]
    request = FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=topics)
    return quiet.ask(request, 12, places={ORDERS: 0}, names={})


def test_a_long_poll_is_answered_in_its_time(quiet):
    quiet.create()
    before = quiet.world.now
    long_poll(quiet, 500)
    assert 500 <= quiet.world.now - before < 600


def test_an_answer_that_comes_late_is_noticed(quiet, monkeypatch):
    quiet.create()
    room = quiet.host.node.broker.waiting
    expire = room.expire
    monkeypatch.setattr(room, "expire", lambda now: expire(now - 2_000))
    monkeypatch.setattr(room, "next_deadline", lambda: quiet.host.clock.now() + 100)
    with pytest.raises(Violation, match="answers come in time"):
        long_poll(quiet, 500)


def test_one_who_still_waits_at_rest_is_noticed(quiet):
    quiet.create()
    quiet.client.ask(
        FetchRequest(
            max_wait_ms=9_000_000,
            min_bytes=1,
            topics=[FetchTopic("orders", bytes(16), [FetchPartition(partition=0, partition_max_bytes=1)])],
        ),
        12,
    ).notes.update(places={ORDERS: 0}, names={})
    quiet.run(100)
    with pytest.raises(Violation, match="every request is answered"):
        quiet.rest()
