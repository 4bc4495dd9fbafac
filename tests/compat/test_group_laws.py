"""The laws of groups catch what they are there for: each is shown a log that breaks it, and one that keeps it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from peers.members import laws
from peers.members.hosting import Member

PLACE = ("t", 0)


def member(name: str, *events: tuple[str, int], ended: int | None = None) -> Member:
    """What a member said: (event, time), where a record's time is its offset too."""
    host: Any = SimpleNamespace(said=lambda: "")
    made = Member(host, name, "none")
    for event, at in events:
        what = {"partition": PLACE, "offset": at} if event == "record" else {"partitions": [PLACE]}
        made.hear({"member": name, "event": event, "at": at, **what})
    made.ended = ended
    return made


def group(*members: Member, written: int = 0) -> Any:
    expected = {(PLACE, offset) for offset in range(written)}
    return SimpleNamespace(members=list(members), written={PLACE: written}, expected=expected)


def breaks(law: Callable[[Any], None], what: Any) -> bool:
    try:
        law(what)
    except AssertionError:
        return True
    return False


READING = [("assigned", -1), ("record", 0), ("record", 1), ("record", 2)]


def test_a_record_that_nobody_processed() -> None:
    assert breaks(laws.at_least_once, group(member("a", *READING), written=4))
    assert not breaks(laws.at_least_once, group(member("a", *READING), written=3))


def test_a_record_that_was_processed_twice() -> None:
    twice = group(member("a", *READING), member("b", ("assigned", 2), ("record", 2)), written=3)

    assert breaks(laws.exactly_once, twice)
    assert not breaks(laws.at_least_once, twice)


def test_a_record_that_was_skipped() -> None:
    assert breaks(laws.in_order, group(member("a", ("assigned", 0), ("record", 1), ("record", 3))))
    assert not breaks(laws.in_order, group(member("a", ("record", 1), ("assigned", 2), ("record", 3))))


@pytest.mark.parametrize(("end", "broken"), [(5, False), (6, True)])
def test_two_owners_at_once(end: int, broken: bool) -> None:
    first, second = member("a", ("assigned", 1), ("revoked", end)), member("b", ("assigned", 5))

    assert breaks(laws.one_owner, group(first, second)) is broken


def test_an_owner_that_was_killed_owned_until_then() -> None:
    second = member("b", ("assigned", 5))

    assert breaks(laws.one_owner, group(member("a", ("assigned", 1), ended=6), second))
    assert not breaks(laws.one_owner, group(member("a", ("assigned", 1), ended=4), second))
    assert breaks(laws.one_owner, group(member("a", ("assigned", 1)), second)), "it lives, and owns still"


def test_an_owner_that_was_thrown_out_hears_of_it_late() -> None:
    late = member("a", ("assigned", 1), ("lost", 9))

    assert not breaks(laws.one_owner, group(late, member("b", ("assigned", 5))))


def test_a_partition_that_was_asked_back_and_returned() -> None:
    in_vain = member("a", ("assigned", 1), ("revoked", 2), ("assigned", 3))
    moved = group(member("a", ("assigned", 1), ("revoked", 2)), member("b", ("assigned", 3)))

    assert breaks(laws.nothing_moved_in_vain, group(in_vain))
    assert not breaks(laws.nothing_moved_in_vain, moved)
