"""A pattern at work: does it match the whole of a name?

A program is what a pattern compiles to (pattern.py): a graph in which one walks along the characters of a name, on
all ways at once. The places one may stand at after some characters are a state; states and the steps between them
are found when they are first needed and remembered, so a name mostly costs one look-up a character.

    a*b     0 split ──▶ 1 'a' ──▶ 0        start {0} ──a──▶ {0}
                    └─▶ 2 'b' ──▶ 3 end            └─b──▶ {3}, which is an end

The law that a backtracking engine breaks: the time is bounded by (length of the name) times (size of the program),
whatever the pattern. Nor is that much time for everyone to have: whoever asks says how many places may be looked at
(`work_left`), and beyond them nothing matches.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import maxsize
from typing import NamedTuple

from andiron.model.re2.alphabet import Alphabet

PROGRAM_MAX = 1_000
_STATES_MAX = 1_000  # remembered at a time; a pattern that needs more starts over

# What a step does, and where it goes on.
TAKE, SPLIT, ASSERT, END = range(4)

# What an ASSERT asks about the place between two characters.
AT_START, AT_END, AT_WORD_EDGE, NOT_AT_WORD_EDGE = range(4)

_NOTHING, _WORD, _OTHER = range(3)  # what stands beside such a place


class Step(NamedTuple):
    """TAKE a character of the set `what`; SPLIT to `to` and `what`; ASSERT `what`; END."""

    does: int
    what: int = 0
    to: int = 0


class _State:
    """Where one may stand after some characters."""

    __slots__ = ("before", "is_end", "next", "places")

    def __init__(self, places: tuple[int, ...], before: int) -> None:
        self.places, self.before = places, before
        self.next: dict[str | int, _State] = {}  # by an ASCII character, or the symbol of one beyond
        self.is_end: bool | None = None  # not asked yet


class Automaton:
    """A program, and what was found out while running it."""

    __slots__ = ("_alphabet", "_program", "_start", "_states", "work_left")

    def __init__(self, program: list[Step], alphabet: Alphabet) -> None:
        assert 0 < len(program) <= PROGRAM_MAX
        self._program, self._alphabet = program, alphabet
        self.work_left = maxsize  # places that may still be looked at; for whoever asks to bound
        self._states: dict[tuple[tuple[int, ...], int], _State] = {}
        self._start = _State((0,), _NOTHING)

    def matches(self, name: str) -> bool:
        """Whether the pattern matches the name from its first to its last character, as far as the work allows."""
        state = self._start
        for character in name:
            following = state.next.get(character)
            if following is None:
                following = self._step(state, character)
            if not following.places or self.work_left < 0:
                return False
            state = following
        if state.is_end is None:
            reached = self._reach(state.places, state.before, _NOTHING)
            state.is_end = any(self._program[place].does == END for place in reached)
        return state.is_end

    def _step(self, state: _State, character: str) -> _State:
        symbol = self._alphabet.symbol(character)
        seen_as = character if character.isascii() else symbol
        if seen_as in state.next:
            return state.next[seen_as]
        kind = _WORD if character.isascii() and (character.isalnum() or character == "_") else _OTHER
        bit = 1 << symbol
        program = self._program
        taken = {
            program[place].to: None
            for place in self._reach(state.places, state.before, kind)
            if program[place].does == TAKE and program[place].what & bit
        }
        key = (tuple(sorted(taken)), kind)
        following = self._states.get(key)
        if following is None:
            if len(self._states) >= _STATES_MAX:
                self._states.clear()
                self._start = _State((0,), _NOTHING)
            following = self._states[key] = _State(*key)
        state.next[seen_as] = following
        return following

    def _reach(self, places: Iterable[int], before: int, after: int) -> dict[int, None]:
        """All places that can be reached without taking a character."""
        reached: dict[int, None] = {}
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place in reached:
                continue
            reached[place] = None
            step = self._program[place]
            if step.does == SPLIT:
                waiting += (step.to, step.what)
            elif step.does == ASSERT and _holds(step.what, before, after):
                waiting.append(step.to)
        self.work_left -= len(reached)
        return reached


def _holds(asked: int, before: int, after: int) -> bool:
    if asked == AT_START:
        return before == _NOTHING
    if asked == AT_END:
        return after == _NOTHING
    return ((before == _WORD) != (after == _WORD)) == (asked == AT_WORD_EDGE)
