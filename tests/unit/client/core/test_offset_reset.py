"""What a reset will do, before it does it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andiron.client.core.descriptions import EARLIEST
from andiron.client.core.group_descriptions import CommittedOffset
from andiron.client.core.offset_reset import Bounds, Move, ResetError, Target, plan
from andiron.model.ids import TopicPartition

P0 = TopicPartition("t", 0)


def moved(target: Target, log: Bounds, committed: int | None = 5) -> Move:
    known = {} if committed is None else {P0: CommittedOffset(committed, -1, "")}
    (move,) = plan(target, [P0], known, {P0: log})
    return move


@pytest.mark.parametrize(
    ("target", "at_time", "after"),
    [
        (Target(offset=7), -1, 7),
        (Target(shift=2), -1, 7),
        (Target(shift=-3), -1, 2),
        (Target(time=EARLIEST), 1, 1),
        (Target(time=123456), 4, 4),
    ],
)
def test_a_place_within_the_log_is_taken_as_it_is(target: Target, at_time: int, after: int) -> None:
    assert moved(target, Bounds(1, 10, at_time)) == Move(P0, 5, after)


@pytest.mark.parametrize(
    ("target", "after", "note"),
    [
        (Target(offset=0), 3, "0 is before the start of the log"),
        (Target(offset=99), 10, "99 is behind the end of the log"),
        (Target(shift=-5), 3, "0 is before the start of the log"),
        (Target(shift=6), 10, "11 is behind the end of the log"),
        (Target(time=1 << 50), 10, "no record is that new: the end"),
    ],
)
def test_a_place_outside_of_the_log_becomes_its_nearer_end(target: Target, after: int, note: str) -> None:
    assert moved(target, Bounds(3, 10)) == Move(P0, 5, after, note)


def test_what_has_no_offset_gets_one() -> None:
    assert moved(Target(offset=7), Bounds(0, 10), committed=None) == Move(P0, None, 7)


def test_what_has_no_offset_cannot_be_shifted() -> None:
    with pytest.raises(ResetError, match="t-0 has no committed offset"):
        moved(Target(shift=1), Bounds(0, 10), committed=None)


LOGS = st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(-1, 100)).map(
    lambda drawn: Bounds(drawn[0], drawn[0] + drawn[1], drawn[2])
)
TARGETS = st.one_of(
    st.builds(Target, offset=st.integers(0, 200)),
    st.builds(Target, shift=st.integers(-200, 200)),
    st.builds(Target, time=st.integers(-2, 200)),
)


@given(TARGETS, LOGS, st.integers(0, 200))
def test_a_plan_never_leaves_the_log(target: Target, log: Bounds, committed: int) -> None:
    assert log.start <= moved(target, log, committed).after <= log.end
