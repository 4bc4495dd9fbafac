"""A broken invariant names the law and the facts."""

from __future__ import annotations

import pytest

from andiron.model.invariant import BrokenInvariant, invariant


def test_what_holds_is_passed_by():
    invariant(True, "epochs never go back", 1, 2)


def test_what_does_not_hold_is_told_with_the_facts():
    with pytest.raises(BrokenInvariant, match=r"^epochs never go back: 2, 1$"):
        invariant(False, "epochs never go back", 2, 1)
    with pytest.raises(AssertionError, match=r"^epochs never go back$"):
        invariant(False, "epochs never go back")
