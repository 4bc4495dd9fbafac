"""What Java's regular expressions mean for the names of topics; tests/spark/test_patterns.py asks Java itself."""

from __future__ import annotations

import pytest

from andiron.spark.source.patterns import BadPattern, compile_java
from peers.patterns import NAMES, PATTERNS


@pytest.mark.parametrize(("pattern", "names"), PATTERNS, ids=[each for each, _ in PATTERNS])
def test_a_pattern_of_javas_matches_what_it_matches_there(pattern: str, names: list[str] | None) -> None:
    if names is None:
        with pytest.raises(BadPattern):
            compile_java(pattern)
    else:
        assert [each for each in NAMES if compile_java(pattern).fullmatch(each)] == names


@pytest.mark.parametrize(
    "pattern", [r"(?<=a+)b", r"\p{IsGreek}", r"\N{no such name}", r"\x{110000}", r"\x{}", "\\"]
)
def test_what_cannot_be_translated_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern):
        compile_java(pattern)


def test_a_refusal_says_where() -> None:
    with pytest.raises(BadPattern, match="a group is not closed at position 2"):
        compile_java("(a")
