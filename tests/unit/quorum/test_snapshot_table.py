"""Which snapshot a follower is given, and which go."""

import pytest

from andiron.quorum.settings import MetadataLogSettings
from andiron.quorum.snapshot_format import SnapshotId
from andiron.quorum.snapshot_table import SnapshotTable, StoredSnapshot

FIRST, SECOND, THIRD = SnapshotId(100, 3), SnapshotId(250, 5), SnapshotId(400, 5)
DAY = 86_400_000


def table(*ids, size=10):
    return SnapshotTable(StoredSnapshot(id, size, number * DAY) for number, id in enumerate(ids))


def test_the_newest_is_the_one_that_goes_furthest():
    found = table(SECOND, FIRST)
    assert (list(found), found.newest, found.committed, found.latest_epoch) == (
        [FIRST, SECOND],
        SECOND,
        250,
        5,
    )

    found.add(StoredSnapshot(THIRD, 1, 0))
    assert (len(found), found.newest) == (3, THIRD)
    found.discard(THIRD)
    assert (len(found), found.newest) == (2, SECOND)
    assert found.get(THIRD) is None
    assert found.get(FIRST).size == 10


def test_without_any_nothing_is_known():
    found = SnapshotTable()

    assert (found.newest, found.committed, found.latest_epoch) == (None, 0, -1)
    assert found.offer(0, 0, -1) is None


def test_they_are_found_by_where_they_end():
    found = table(FIRST, SECOND, THIRD)

    assert found.ending_at(250) == SECOND
    assert found.ending_at(251) is None
    assert [found.reaching(start) for start in (0, 100, 101, 400, 401)] == [FIRST, FIRST, SECOND, THIRD, None]


# ── who is given one ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("end", "last_epoch"), [(0, -1), (99, 3), (99, 9), (100, 2), (100, 4), (300, 2), (300, -1)]
)
def test_a_follower_that_the_log_does_not_reach_is_given_the_newest(end, last_epoch):
    assert table(FIRST, SECOND).offer(100, end, last_epoch) == SECOND


@pytest.mark.parametrize(("end", "last_epoch"), [(100, 3), (101, 3), (300, 4), (9999, 9)])
def test_one_that_it_reaches_is_given_records_or_told_where_they_part(end, last_epoch):
    assert table(FIRST, SECOND).offer(100, end, last_epoch) is None


def test_a_log_that_begins_at_the_beginning_reaches_everybody():
    assert table(FIRST, SECOND).offer(0, 0, -1) is None


# ── which go ─────────────────────────────────────────────────────────────────────────

LOG = {0: 1000, 100: 900, 250: 700, 400: 100}  # bytes of a log that starts there


def kept(found, start=0, bytes_max=-1, ms_max=-1, now=0):
    settings = MetadataLogSettings(metadata_max_retention_bytes=bytes_max, metadata_max_retention_ms=ms_max)
    return found.keep_from(settings, start, LOG.__getitem__, now)


def test_nothing_goes_without_a_limit():
    assert kept(table(FIRST, SECOND, THIRD), now=1000 * DAY) is None


@pytest.mark.parametrize(
    ("bytes_max", "first"), [(1030, None), (1029, FIRST), (929, SECOND), (719, THIRD), (0, THIRD)]
)
def test_the_oldest_go_until_the_rest_is_small_enough_and_the_newest_stays(bytes_max, first):
    assert kept(table(FIRST, SECOND, THIRD), bytes_max=bytes_max) == first


@pytest.mark.parametrize(("days", "first"), [(3, None), (3.5, SECOND), (4.5, THIRD), (99, THIRD)])
def test_they_go_when_they_are_old(days, first):
    assert kept(table(FIRST, SECOND, THIRD), ms_max=3 * DAY, now=days * DAY) == first


def test_what_is_gone_does_not_go_again():
    assert kept(table(SECOND), start=250, bytes_max=0) is None
    assert kept(table(SECOND), start=100, bytes_max=0) == SECOND
    assert kept(SnapshotTable(), bytes_max=0) is None
