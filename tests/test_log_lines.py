"""What nodes write into their logs: every line a sentence with its subject first, every fact under a known key.

The table of keys is docs/operations.md's, so that whoever searches logs can rely on it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "andiron"
LEVELS = ("debug", "info", "warning", "error", "exception", "log")
FIELDS = {"ts", "level", "logger", "node", "message", "exception"}  # which every object has of itself


class Written(NamedTuple):
    """A line as it stands in the source."""

    place: str
    sentence: ast.expr
    keys: list[str]

    @property
    def text(self) -> str:
        return str(self.sentence.value) if isinstance(self.sentence, ast.Constant) else ""


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SRC.rglob("*.py")):
        text = path.read_text()
        if "logging" in text or "Line(" in text:
            yield str(path.relative_to(SRC)), ast.parse(text)


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


@pytest.fixture(scope="module")
def lines() -> list[Written]:
    return [
        Written(f"{name}:{call.lineno}", call.args[0], [each.arg for each in call.keywords if each.arg])
        for name, tree in trees()
        for call in calls(tree)
        if isinstance(call.func, ast.Name) and call.func.id == "Line"
    ]


def keys_in_the_table() -> list[str]:
    """The first column of the table of keys."""
    page = (ROOT / "docs" / "operations.md").read_text()
    section = page.partition("### What the log says")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [key for row in rows for key in re.findall(r"`(\w+)`", row)]


def loggers(tree: ast.Module) -> set[str]:
    """The names of a module's loggers."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and "getLogger" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def test_whatever_is_logged_is_a_line():
    bare = [
        f"{name}:{call.lineno}"
        for name, tree in trees()
        for call in calls(tree)
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in LEVELS
        and ast.unparse(call.func.value) in loggers(tree)
        and any(isinstance(each, ast.Constant | ast.JoinedStr) for each in call.args)
    ]
    assert bare == []


def test_a_line_is_a_sentence_that_begins_with_its_subject(lines):
    """A capital, more than a word, no full stop before the facts, and a constant: what varies is a fact."""
    own = [line for line in lines if not line.place.startswith("model/line.py")]
    wrong = [line.place for line in own if not re.fullmatch(r"[A-Z]\w+ .*[^.:]", line.text)]
    assert len(own) > 100 and wrong == []


def test_what_a_sentence_names_is_given(lines):
    for line in lines:
        named = {name for _, name, _, _ in Formatter().parse(line.text) if name is not None}
        assert named <= set(line.keys), line.place


def test_keys_are_those_of_the_table_and_all_of_them_are_used(lines):
    used, table = {key for line in lines for key in line.keys}, keys_in_the_table()

    assert len(table) == len(set(table))
    assert used - set(table) == set()
    assert set(table) - used - FIELDS == set()
    assert used & FIELDS == set()
