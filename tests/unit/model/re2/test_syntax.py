"""Text to nodes; what they match is tested in test_pattern.py."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.re2.alphabet import Alphabet
from andiron.model.re2.automaton import AT_START
from andiron.model.re2.syntax import Anchor, Choice, Repeat, Sequence, Set, read_pattern

EVERY = Alphabet().every


def one(character: str) -> Set:
    return Set(1 << ord(character))


@pytest.mark.parametrize(
    ("pattern", "node"),
    [
        ("", Sequence([])),
        ("a", one("a")),
        ("^a.", Sequence([Anchor(AT_START), one("a"), Set(EVERY)])),
        ("a|bc", Choice([one("a"), Sequence([one("b"), one("c")])])),
        ("(a)+", Repeat(one("a"), 1, None)),
        ("a{2,3}?", Repeat(one("a"), 2, 3)),
        ("[ab]", Set(3 << ord("a"))),
        ("[^a]", Set(EVERY ^ 1 << ord("a"))),
        (r"\.", one(".")),
        ("(?i)a", Set(1 << ord("a") | 1 << ord("A"))),
        ("é", Set(1 << 129)),
    ],
)
def test_a_pattern_is_read(pattern, node):
    assert read_pattern(pattern, Alphabet(pattern)) == node


def test_a_fault_says_what_is_wrong_and_where():
    with pytest.raises(ProtocolError) as refused:
        read_pattern("ab[c", Alphabet())

    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert (
        refused.value.detail
        == "'ab[c' is not a valid pattern: there is a '[' without its ']' (at character 4)"
    )
