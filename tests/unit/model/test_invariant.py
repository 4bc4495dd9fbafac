"""What must always hold, and is asserted in production."""

import pytest

from andiron.model.invariant import BrokenInvariant, invariant


def test_what_holds_passes():
    invariant(True, "an epoch never goes back", 4, 5)


def test_what_is_broken_says_so_in_words_and_with_its_values():
    with pytest.raises(BrokenInvariant, match=r"^an epoch never goes back: 5, 4$"):
        invariant(False, "an epoch never goes back", 5, 4)


def test_it_is_an_assertion_that_failed():
    assert issubclass(BrokenInvariant, AssertionError)
