"""Invariants: what must hold whatever happens, asked while the node runs; a broken one is a bug, and stops the step."""

from __future__ import annotations


class BrokenInvariant(AssertionError):
    """What can never be is."""


def invariant(holds: bool, words: str, *facts: object) -> None:
    """Raise BrokenInvariant, with the law in words and the facts that break it, unless it holds."""
    if not holds:
        raise BrokenInvariant(": ".join((words, ", ".join(map(str, facts)))) if facts else words)
