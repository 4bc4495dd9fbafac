"""What must always hold: asserted in production too, since `python -O` strips `assert` and not this."""

from __future__ import annotations


class BrokenInvariant(AssertionError):
    """A bug in this program: what it relies on does not hold. The message says what, and with which values."""


def invariant(holds: bool, words: str, *facts: object) -> None:
    """Raise BrokenInvariant with the `words` that do not hold, and the `facts` that break them."""
    if not holds:
        raise BrokenInvariant(f"{words}: {', '.join(map(str, facts))}")
