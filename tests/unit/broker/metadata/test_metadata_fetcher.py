"""A node that was away while the metadata log moved past its end goes on from a snapshot, and misses nothing."""

import errno

import pytest

from andiron.log.flushed_mark import FlushedMark
from worlds.lagging import HERE, away_while_the_log_moves_on, cluster, create, is_caught_up, log


@pytest.mark.parametrize("voters", [None, (1,)])
def test_a_voter_and_an_observer_catch_up_by_a_snapshot(voters):
    made = cluster(voters=voters)
    away = away_while_the_log_moves_on(made)

    made.start(away)
    made.until(lambda: is_caught_up(made, away))

    topics = made.broker(away).image.topics
    assert "gone" not in topics and {"kept", "again", "t19"} <= set(topics)
    assert log(made, away).start > 0
    assert made.partition(away, "again").log.settings.retention_ms == 5
    assert f"{log(made, away).start:020d}-" in "".join(made.members[away].disk.names(HERE))


def test_a_disk_that_does_not_take_the_flushed_mark_keeps_nobody_from_the_snapshot(monkeypatch):
    """The log has begun anew by then: an image that stayed behind would have nothing to go on from."""
    made = cluster()
    away = away_while_the_log_moves_on(made)

    def refuse(mark, end):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(FlushedMark, "lower_to", refuse)
    made.start(away)
    made.until(lambda: is_caught_up(made, away))

    assert log(made, away).start > 0


def test_one_that_has_never_been_there_catches_up_by_a_snapshot():
    made = cluster()
    away = away_while_the_log_moves_on(made)
    made.members[away].disk = made._disk(away)

    made.start(away)
    made.until(lambda: is_caught_up(made, away))

    assert log(made, away).start > 0


def test_one_that_caught_up_by_a_snapshot_starts_from_it_and_can_lead():
    made = cluster()
    away = away_while_the_log_moves_on(made)
    made.start(away)
    made.until(lambda: is_caught_up(made, away))
    made.kill(away)
    made.start(away)
    made.until(lambda: is_caught_up(made, away))

    while made.controller != away:
        leader = made.controller
        made.stop(leader)
        made.until(lambda was=leader: made.controller not in (None, -1, was), ms=20_000)
        made.start(leader)
        made.until(made.all_ready)

    create(made, "under-the-new-one")
    assert "kept" in made.broker(away).controller._shard.machine.image.topics
    assert all(is_caught_up(made, member.number) for member in made.up())


def test_the_controller_goes_from_one_to_the_next_after_snapshots():
    made = cluster()
    for round in range(4):
        create(made, *(f"t{round}-{number}" for number in range(8)))
        leader = made.controller
        made.kill(leader)
        made.until(lambda was=leader: made.controller not in (None, -1, was))
        create(made, f"without-{round}")
        made.start(leader)
        made.until(lambda was=leader: is_caught_up(made, was))

    assert len(made.broker(1).image.topics) == 4 * 9
    assert all(log(made, number).start > 0 for number in (1, 2, 3))
