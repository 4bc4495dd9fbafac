"""From where to where, in each partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.cli.ranges import Bounds, Point, PointError, before_open_transactions, parse_point, positions
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.ids import TopicPartition
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

NOW = 1_700_000_000_000
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("earliest", Point(time=EARLIEST)),
        ("Latest", Point(time=LATEST)),
        ("end", Point(time=LATEST)),
        ("0", Point(offset=0)),
        ("500", Point(offset=500)),
        ("-10", Point(back=10)),
        ("@5", Point(time=5)),
        ("1m ago", Point(time=NOW - 60_000)),
    ],
)
def test_a_point_is_read(text: str, point: Point) -> None:
    assert parse_point(text, NOW) == point


def test_what_names_no_place_is_refused() -> None:
    with pytest.raises(PointError, match="nor is it earliest"):
        parse_point("somewhere", NOW)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    """Partition 0 has offsets 0 to 9, partition 1 has offsets 0 and 1."""
    made = Logs(broker)
    made.write(0, *[b"x"] * 10)
    made.write(1, b"x", b"x")
    return made


@pytest.fixture
def admin(broker: ScriptedBroker, logs: Logs) -> Iterator[Admin]:
    with Client(broker.bootstrap) as client:
        yield Admin(client)


def found(
    admin: Admin, start: str, end: str | None = None, follow: bool = False
) -> list[tuple[int, int | None]]:
    last = None if end is None else parse_point(end, NOW)
    bounds = Bounds(admin, [P0, P1], committed=False)
    places = positions(bounds, parse_point(start, NOW), last, follow=follow)
    return [(place.offset, place.end) for place in places]


def test_by_default_it_is_all_there_is_now(admin: Admin) -> None:
    assert found(admin, "earliest") == [(0, 10), (0, 2)]


def test_to_follow_is_to_have_no_end(admin: Admin) -> None:
    assert found(admin, "latest", follow=True) == [(10, None), (2, None)]


def test_an_offset_beyond_a_partition_is_its_end(admin: Admin) -> None:
    assert found(admin, "5", "8") == [(5, 8), (2, 2)]


def test_one_may_count_back_from_each_end(admin: Admin) -> None:
    assert found(admin, "-3", "-1") == [(7, 9), (0, 1)]


def test_an_end_that_may_yet_come_is_kept_when_following(admin: Admin) -> None:
    assert found(admin, "0", "8", follow=True) == [(0, 8), (0, 8)]


@pytest.mark.parametrize("follow", [False, True])
def test_a_partition_ends_before_what_is_open_for_who_reads_what_is_committed(
    admin: Admin, logs: Logs, follow: bool
) -> None:
    logs.stable[0] = 6
    bounds = Bounds(admin, [P0, P1], committed=True)
    all_of_it = positions(bounds, parse_point("-1", NOW), None, follow=follow)
    part_of_it = positions(bounds, parse_point("0", NOW), parse_point("5", NOW), follow=follow)

    assert [place.offset for place in all_of_it] == [5, 1]
    assert before_open_transactions(bounds, all_of_it) == [P0]
    assert before_open_transactions(bounds, part_of_it) == []
    assert before_open_transactions(Bounds(admin, [P0, P1], committed=False), all_of_it) == []
