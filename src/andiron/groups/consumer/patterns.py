r"""Subscriptions by pattern: which topics does a pattern mean?

    orders\..*     nodes (pattern_syntax.py)  ──▶  steps  ──▶  Automaton  ──▶  orders.eu, orders.us

A pattern is compiled once for all groups that use it. Repetitions are written out, so one that is too large (more
than PROGRAM_MAX steps) is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from andiron.groups.consumer.automaton import ASSERT, END, PROGRAM_MAX, SPLIT, TAKE, Automaton, Step
from andiron.groups.consumer.pattern_syntax import (
    Anchor,
    Choice,
    Node,
    Repeat,
    Sequence,
    Set,
    read_pattern,
    refuse,
)
from andiron.groups.topics import Topics
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis

# The cluster's own topics are nobody's to read by accident; they can be subscribed to by name.
INTERNAL = frozenset(("__consumer_offsets", "__transaction_state", "__share_group_state"))


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Automaton:
    """What matches a pattern; raises INVALID_REGULAR_EXPRESSION."""
    return Automaton(_Compiler(pattern).program(read_pattern(pattern)))


def topics_matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The topics that a pattern means, sorted."""
    matches = compile_pattern(pattern).matches
    return sorted(name for name in names if name not in INTERNAL and matches(name))


class Matches:
    """The topics that patterns mean at the moment, for all groups of a shard."""

    def __init__(self, topics: Topics, refresh_interval_ms: int) -> None:
        self._topics, self._refresh_interval_ms = topics, refresh_interval_ms
        self._version = topics.version
        self._found: dict[str, tuple[Millis, tuple[str, ...]]] = {}

    def of(self, pattern: str, now: Millis) -> tuple[str, ...]:
        """The topics that a pattern means, looked up anew if there may be others by now. A pattern that another
        broker has let in and that is none here means nothing."""
        if self._topics.version != self._version:
            self._version = self._topics.version
            self._found.clear()
        at, names = self._found.get(pattern, (None, ()))
        if at is None or now - at > self._refresh_interval_ms:
            names = self._look_up(pattern)
            self._found[pattern] = (now, names)
        return names

    def _look_up(self, pattern: str) -> tuple[str, ...]:
        try:
            return tuple(topics_matching(pattern, self._topics.names()))
        except ProtocolError:
            return ()


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
            start = self._compile(inner, start)
        return start


def _turned(step: Step, last: int) -> Step:
    if step.does == SPLIT:
        return Step(SPLIT, last - step.what, last - step.to)
    return step._replace(to=last - step.to)
