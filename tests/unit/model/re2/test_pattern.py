"""Patterns of RE2 against names, and the ones that are refused."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.re2.pattern import compile_pattern, matching


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not_fit"),
    [
        ("a{2,3}", ["aa", "aaa"], ["a", "aaaa", ""]),
        ("a{2}", ["aa"], ["a", "aaa"]),
        ("a{1,}b?", ["a", "aab"], ["b", "abb"]),
        ("a{,2}", ["a{,2}"], ["aa"]),
        ("x{a}", ["x{a}"], ["xa"]),
        ("[a-c]+", ["abcab"], ["d", ""]),
        ("[^a-c]+", ["xyz-1"], ["xa"]),
        ("[]a]+", ["a]"], ["b"]),
        ("[a-]+", ["-a"], ["b"]),
        (r"[\d\-x]+", ["1-x"], ["y"]),
        ("[[:alpha:]]+[[:^digit:]]", ["ab."], ["ab1"]),
        (r"\w+\.\d\D", ["a_1.2x"], ["a.x2"]),
        (r"\p{Lu}\pL\P{N}", ["Ab-"], ["ab-", "Ab1"]),
        (r"\x61\x{62}", ["ab"], ["x61"]),
        (r"\Qa.b*\E+", ["a.b*", "a.b**"], ["axb"]),
        ("(?i)Ab", ["ab", "AB"], ["a"]),
        ("(?i:a)b", ["Ab", "ab"], ["AB"]),
        ("a(?i)b|c", ["aB", "C"], ["A"]),
        ("(a(?i)b)c", ["aBc"], ["abC"]),
        ("(?P<name>a)(?<other>b)(?:c)", ["abc"], ["ab"]),
        ("^a$", ["a"], ["aa"]),
        (r"\Aa.*\z", ["ab"], ["ba"]),
        ("a^b", [], ["ab", "a^b"]),
        (r"a\b.*", ["a-b", "a"], ["ab"]),
        (r"a\Bb", ["ab"], ["a"]),
        ("a*?b+?", ["b", "aabb"], ["a"]),
        ("a||b", ["a", "b", ""], ["ab"]),
        ("(|a)+", ["", "aaa"], ["b"]),
        ("é|a", ["é", "a"], ["e", "è"]),
        ("x.[^a]", ["x日é"], ["x日a"]),
        ("[à-ü]+", ["àéü"], ["ý", "ß", "e"]),
        (r"\x{e9}[\x{ea}-\x{ef}]", ["éê"], ["éé"]),
    ],
)
def test_the_syntax_of_re2(pattern, fits, does_not_fit):
    automaton = compile_pattern(pattern)

    assert [name for name in fits + does_not_fit if automaton.matches(name)] == fits


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "(a", "[", "[a", "[]", "[b-a]", "*", "+a", "a**", "a{2}{3}", "a{3,2}", "a{1001}", "|*",
        "\\", r"\1", r"(a)\1", r"\k", r"\xg0", r"\x{}", r"\p{Greek}", r"\p{L", "(?=a)", "(?!a)", "(?<=a)",
        "(?<!a)", "(?>a)", "(?P=a)", "(?#a)", "(?<1a>b)", "(?x)a", "(?i", "a*+", "[[:no:]]", r"[\d-z]",
        "(" * 60 + ")" * 60, "(((){1000}){1000}){1000}", "((){2}){501}", "a" * 10_001, r"\x{110000}",
        "(a{1000}){2}", "(((a{100}){100}){100}){100}",
    ],
)  # fmt: skip
def test_what_is_no_pattern_or_too_much_of_one_is_refused(pattern):
    with pytest.raises(ProtocolError) as refused:
        compile_pattern(pattern)

    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_that_would_hold_up_a_backtracking_engine_is_matched_at_once():
    assert not compile_pattern("(a+)+b").matches("a" * 249)
    assert not compile_pattern("(a|a)*.*.*.*.*x").matches("a" * 249)
    assert compile_pattern("(.*a.*){10}").matches("a" * 249)


atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab|)", "^", "$", r"\b", "-", r"\w"])
repeated = st.builds("{}{}".format, atoms, st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "{0,}"]))
patterns = st.lists(repeated, min_size=1, max_size=5).map("".join)


@settings(deadline=None)
@given(st.lists(patterns, min_size=1, max_size=3).map("|".join), st.text("ab-", max_size=7))
def test_it_agrees_with_the_engine_of_python(pattern, name):
    try:
        expected = re.fullmatch(pattern, name) is not None
    except re.error:
        return

    assert compile_pattern(pattern).matches(name) == expected


def test_empty_groups_that_are_counted_within_each_other_are_compiled_at_once():
    """Each (){1000} writes no step, so it is not the size of the program that ends this."""
    many = "(" + "()" * 1_000 + "){1000}"

    assert compile_pattern(many).matches("")
    assert compile_pattern("(()" * 20 + "){2}" * 9 + ")" * 11).matches("")


def test_a_pattern_that_takes_too_long_among_these_names_is_refused():
    """Which of the last 300 letters were an a makes more states than there are: each character finds a new one."""
    chance = random.Random(1)
    names = ["".join(chance.choices("ab", k=30_000))]
    assert matching("(a|b)*", names, str) == names

    with pytest.raises(ProtocolError) as refused:
        matching("(a|b)*a(a|b){300}", names, str)

    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert matching("a|b+", ["b", "bb"], str) == ["b", "bb"]
