"""Text to nodes; what they match is tested in test_patterns.py."""

from __future__ import annotations

import pytest

from andiron.groups.consumer.automaton import AT_START
from andiron.groups.consumer.pattern_syntax import ASCII, Anchor, Choice, Repeat, Sequence, Set, read_pattern
from andiron.model.errors import ErrorCode, ProtocolError


def one(character: str) -> Set:
    return Set(1 << ord(character))


@pytest.mark.parametrize(
    ("pattern", "node"),
    [
        ("", Sequence([])),
        ("a", one("a")),
        ("^a.", Sequence([Anchor(AT_START), one("a"), Set(ASCII)])),
        ("a|bc", Choice([one("a"), Sequence([one("b"), one("c")])])),
        ("(a)+", Repeat(one("a"), 1, None)),
        ("a{2,3}?", Repeat(one("a"), 2, 3)),
        ("[ab]", Set(3 << ord("a"))),
        ("[^a]", Set(ASCII ^ 1 << ord("a"))),
        (r"\.", one(".")),
        ("(?i)a", Set(1 << ord("a") | 1 << ord("A"))),
        ("é", Set(0)),
    ],
)
def test_a_pattern_is_read(pattern, node):
    assert read_pattern(pattern) == node


def test_a_fault_says_what_is_wrong_and_where():
    with pytest.raises(ProtocolError) as refused:
        read_pattern("ab[c")

    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert (
        refused.value.detail
        == "'ab[c' is not a valid pattern: there is a '[' without its ']' (at character 4)"
    )
