"""A snapshot comes in pieces: whoever dies meanwhile, it is taken whole or not at all."""

import random

import pytest

from andiron.broker.metadata import snapshot_fetcher
from worlds.lagging import HERE, Counted, away_while_the_log_moves_on, cluster, create, is_caught_up, log


def test_in_small_pieces_it_comes_as_well():
    made = cluster(controller_quorum_fetch_snapshot_max_bytes=100)
    away = away_while_the_log_moves_on(made)

    made.start(away)
    made.until(lambda: is_caught_up(made, away))


def test_a_leader_that_goes_takes_a_snapshot_that_is_not_here_yet_with_it(monkeypatch):
    made = cluster(controller_quorum_fetch_snapshot_max_bytes=100)
    away = away_while_the_log_moves_on(made)
    asked = Counted(monkeypatch, upto=5, then=lambda: made.kill(leader))
    leader = made.controller

    made.start(away)
    made.until(lambda: asked.over and made.controller not in (None, -1, leader), ms=90_000)
    made.until(lambda: is_caught_up(made, away))

    assert not [name for name in made.members[away].disk.names(HERE) if name.endswith(".part")]


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("pieces", [1, 3, 8])
def test_one_that_dies_while_it_fetches_begins_again(monkeypatch, pieces, power):
    made = cluster(controller_quorum_fetch_snapshot_max_bytes=200)
    away = away_while_the_log_moves_on(made)
    asked = Counted(monkeypatch, upto=pieces, then=lambda: made.paused.add(away))
    made.start(away)
    made.until(lambda: asked.over)
    made.kill(away)
    if power:
        made.members[away].disk.crash(random.Random(pieces))
    made.paused.clear()

    made.start(away)
    made.until(lambda: is_caught_up(made, away))


@pytest.mark.parametrize("seed", range(6))
def test_one_that_dies_between_the_snapshot_and_the_log_goes_on_from_the_snapshot(monkeypatch, seed):
    made = cluster()
    away = away_while_the_log_moves_on(made)
    here = []
    whole = snapshot_fetcher.SnapshotFetcher._load

    def loaded(fetch, coming, loading, now):
        if whole(fetch, coming, loading, now) is not None:
            here.append(coming.id)

    monkeypatch.setattr(snapshot_fetcher.SnapshotFetcher, "_load", loaded)
    made.start(away)
    made.until(lambda: here)
    monkeypatch.undo()
    made.kill(away)
    made.members[away].disk.crash(random.Random(seed))

    made.start(away)
    made.until(lambda: is_caught_up(made, away))

    assert log(made, away).start >= here[0].end


def test_a_snapshot_that_is_damaged_at_the_leader_is_not_taken(caplog):
    made = cluster()
    away = away_while_the_log_moves_on(made)
    disk = made.members[made.controller].disk
    newest = made.broker(made.controller).raft.snapshots.table.newest
    disk.corrupt(random.Random(1), f"{HERE}/{newest.file_name}", range(200, 300))

    made.start(away)
    made.pass_time(3_000)
    assert "cannot be fetched" in caplog.text
    assert not [name for name in made.members[away].disk.names(HERE) if name.startswith(newest.file_name)]

    create(made, *(f"more-{number}" for number in range(10)))
    made.until(lambda: is_caught_up(made, away))


def test_a_full_disk_is_tried_again(monkeypatch, caplog):
    made = cluster(controller_quorum_fetch_snapshot_max_bytes=200)
    away = away_while_the_log_moves_on(made)
    disk = made.members[away].disk
    asked = Counted(monkeypatch, upto=3, then=disk.fill_up)
    made.start(away)
    made.until(lambda: asked.over)
    made.pass_time(3_000)
    assert "no space left" in caplog.text

    disk.free_up()
    made.until(lambda: is_caught_up(made, away))
