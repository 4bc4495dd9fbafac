r"""Patterns compiled, and asked which names they mean.

    orders\..*     nodes (syntax.py)  ──▶  steps  ──▶  Automaton  ──▶  orders.eu, orders.us

A pattern is compiled once for all who use it. Repetitions are written out, so one that is too large (more than
PROGRAM_MAX steps) is refused, and what is repeated but says nothing, `(){1000}`, is written out once.

Whoever sends a pattern may have chosen the names too. To look one name up takes at most its length times the size of
the program, and all names of one asking at most WORK_MAX places: a pattern that needs more is refused like one that is
not well formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

from andiron.model.re2.alphabet import Alphabet
from andiron.model.re2.automaton import ASSERT, END, PROGRAM_MAX, SPLIT, TAKE, Automaton, Step
from andiron.model.re2.syntax import Anchor, Choice, Node, Repeat, Sequence, Set, read_pattern, refuse

WORK_MAX = 200_000  # places, some tens of milliseconds

T = TypeVar("T")


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Automaton:
    """What matches a pattern; raises INVALID_REGULAR_EXPRESSION."""
    alphabet = Alphabet(pattern)
    return Automaton(_Compiler(pattern).program(read_pattern(pattern, alphabet)), alphabet)


def matching(pattern: str, things: Iterable[T], name_of: Callable[[T], str]) -> list[T]:
    """Those whose whole name the pattern matches; raises INVALID_REGULAR_EXPRESSION."""
    automaton = compile_pattern(pattern)
    automaton.work_left = WORK_MAX
    found = []
    for each in things:
        if automaton.matches(name_of(each)):
            found.append(each)
        elif automaton.work_left < 0:
            refuse(pattern, "it takes too long to match")
    return found


class _Compiler:
    """Nodes to steps, from the last to the first: each is told where it goes on."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._steps: list[Step] = []

    def program(self, node: Node) -> list[Step]:
        start = self._compile(node, self._add(Step(END)))
        last = self._add(Step(SPLIT, start, start))
        return [_turned(step, last) for step in reversed(self._steps)]  # an Automaton begins at 0

    def _add(self, step: Step) -> int:
        if len(self._steps) >= PROGRAM_MAX:
            refuse(self._pattern, "it is too large")
        self._steps.append(step)
        return len(self._steps) - 1

    def _compile(self, node: Node, to: int) -> int:
        """Write the steps of a node that goes on at `to`; where it begins."""
        match node:
            case Set(characters):
                return self._add(Step(TAKE, characters, to))
            case Anchor(asks):
                return self._add(Step(ASSERT, asks, to))
            case Sequence(parts):
                for part in reversed(parts):
                    to = self._compile(part, to)
                return to
            case Choice(options):
                start = self._compile(options[-1], to)
                for option in reversed(options[:-1]):
                    start = self._add(Step(SPLIT, start, self._compile(option, to)))
                return start
            case Repeat(inner, least, most):
                return self._repeat(inner, least, most, to)

    def _repeat(self, inner: Node, least: int, most: int | None, to: int) -> int:
        start = to
        if most is None:
            start = self._add(Step(SPLIT, to, to))
            self._steps[start] = Step(SPLIT, to, self._compile(inner, start))
        else:
            for _ in range(most - least):
                start = self._add(Step(SPLIT, to, self._compile(inner, start)))
        for _ in range(least):
            before, start = start, self._compile(inner, start)
            if start == before:
                break  # it says nothing, however often
        return start


def _turned(step: Step, last: int) -> Step:
    if step.does == SPLIT:
        return Step(SPLIT, last - step.what, last - step.to)
    return step._replace(to=last - step.to)
