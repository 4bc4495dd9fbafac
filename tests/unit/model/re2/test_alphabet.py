"""Characters to bits."""

from __future__ import annotations

import pytest

from andiron.model.re2.alphabet import Alphabet, character_number


def test_a_pattern_tells_what_it_mentions_from_what_lies_between():
    alphabet = Alphabet("à-ü")

    symbols = [alphabet.symbol(character) for character in "aßàáûüý日"]

    assert symbols == [97, 128, 129, 130, 130, 131, 132, 132]
    assert alphabet.every == (1 << 133) - 1


def test_a_character_is_mentioned_by_its_number_as_well():
    assert Alphabet(r"\x{e9}").bit("é") == Alphabet("é").bit("é")


@pytest.mark.parametrize(
    ("digits", "number"), [("61", 0x61), ("10ffff", 0x10FFFF), ("110000", None), ("", None), ("g", None)]
)
def test_a_number_of_a_character_is_hexadecimal(digits, number):
    assert character_number(digits) == number
