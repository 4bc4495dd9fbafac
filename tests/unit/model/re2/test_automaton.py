"""Programs by hand; what patterns compile to is tested in test_pattern.py."""

from __future__ import annotations

import pytest

from andiron.model.re2.alphabet import Alphabet
from andiron.model.re2.automaton import (
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

ALPHABET = Alphabet()
A, B = 1 << ord("a"), 1 << ord("b")
A_STAR_B = [Step(SPLIT, 2, 1), Step(TAKE, A, 0), Step(TAKE, B, 3), Step(END)]


@pytest.mark.parametrize(
    ("name", "fits"), [("b", True), ("aab", True), ("a", False), ("ba", False), ("", False)]
)
def test_a_name_is_walked_along_all_ways_at_once(name, fits):
    assert Automaton(A_STAR_B, ALPHABET).matches(name) is fits


def test_an_assertion_holds_at_its_place_or_nowhere():
    automaton = Automaton(
        [Step(ASSERT, AT_START, 1), Step(TAKE, A, 2), Step(ASSERT, AT_END, 3), Step(END)], ALPHABET
    )

    assert automaton.matches("a")
    assert not automaton.matches("aa")


def test_a_loop_that_takes_nothing_comes_to_an_end():
    assert not Automaton([Step(SPLIT, 0, 0)], ALPHABET).matches("a")


def test_more_states_than_are_remembered_are_found_again():
    # (a|b)*a(a|b){10}: which of the last eleven were an a makes two thousand states.
    either = A | B
    program = [Step(SPLIT, 2, 1), Step(TAKE, either, 0), Step(TAKE, A, 3)]
    program += [Step(TAKE, either, 4 + number) for number in range(10)]
    automaton = Automaton([*program, Step(END)], ALPHABET)

    for number in range(1 << 11):
        name = f"{number:011b}".replace("0", "a").replace("1", "b")
        assert automaton.matches(name) is (name[0] == "a")


def test_a_program_has_a_bound():
    with pytest.raises(AssertionError):
        Automaton([Step(END)] * (PROGRAM_MAX + 1), ALPHABET)


def test_beyond_the_work_that_is_allowed_nothing_matches():
    automaton = Automaton(A_STAR_B, ALPHABET)
    automaton.work_left = 2

    assert not automaton.matches("aab")
    assert automaton.work_left < 0
