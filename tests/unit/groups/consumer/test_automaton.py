"""Programs by hand; what patterns compile to is tested in test_patterns.py."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.automaton import (
    ASSERT,
    AT_END,
    AT_START,
    END,
    PROGRAM_MAX,
    SPLIT,
    TAKE,
    Automaton,
    Step,
)

A, B = 1 << ord("a"), 1 << ord("b")
A_STAR_B = [Step(SPLIT, 2, 1), Step(TAKE, A, 0), Step(TAKE, B, 3), Step(END)]


@pytest.mark.parametrize(
    ("name", "fits"), [("b", True), ("aab", True), ("a", False), ("ba", False), ("", False)]
)
def test_a_name_is_walked_along_all_ways_at_once(name, fits):
    assert Automaton(A_STAR_B).matches(name) is fits


def test_an_assertion_holds_at_its_place_or_nowhere():
    automaton = Automaton([Step(ASSERT, AT_START, 1), Step(TAKE, A, 2), Step(ASSERT, AT_END, 3), Step(END)])

    assert automaton.matches("a")
    assert not automaton.matches("aa")


def test_a_loop_that_takes_nothing_comes_to_an_end():
    assert not Automaton([Step(SPLIT, 0, 0)]).matches("a")


def test_more_states_than_are_remembered_are_found_again():
    # (a|b)*a(a|b){10}: which of the last eleven were an a makes two thousand states.
    either = A | B
    program = [Step(SPLIT, 2, 1), Step(TAKE, either, 0), Step(TAKE, A, 3)]
    program += [Step(TAKE, either, 4 + number) for number in range(10)]
    automaton = Automaton([*program, Step(END)])

    for number in range(1 << 11):
        name = f"{number:011b}".replace("0", "a").replace("1", "b")
        assert automaton.matches(name) is (name[0] == "a")


def test_a_program_has_a_bound():
    with pytest.raises(AssertionError):
        Automaton([Step(END)] * (PROGRAM_MAX + 1))
