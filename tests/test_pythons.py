"""What `make pythons` runs needs nothing but the core: whatever a unit test imports, it or what it imports in turn."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

from pythons import BEYOND_THE_CORE, ROOT, TOOLS

UNIT = ROOT / "tests" / "unit"
CORE = {"click", "cramjam", "google_crc32c"}
HAD = CORE | set(sys.stdlib_module_names) | {each.replace("-", "_") for each in TOOLS}


def test_the_unit_tests_of_the_core_need_nothing_beyond_it() -> None:
    left_out = [UNIT / each for each in BEYOND_THE_CORE]
    files = [*UNIT.rglob("test_*.py"), *UNIT.rglob("conftest.py")]
    run = [path for path in files if not any(path.is_relative_to(each) for each in left_out)]

    assert {str(path.relative_to(UNIT)): found for path in run if (found := beyond(path))} == {}


def beyond(path: Path) -> set[str]:
    """What comes with an extra, of all that is imported by a file and by those of ours that it imports."""
    found: set[str] = set()
    waiting, seen = [path], {path}
    while waiting:
        for name in imported(waiting.pop()):
            here = place_of(name)
            if here is None:
                found |= {name.partition(".")[0]} - HAD
            elif here not in seen:
                seen.add(here)
                waiting.append(here)
    return found


@cache
def place_of(name: str) -> Path | None:
    """The file of a module that is ours; a name in it may follow."""
    for root in (ROOT / "src", ROOT / "tests"):
        parts = name.split(".")
        while parts:
            stem = root.joinpath(*parts)
            for path in (stem.with_suffix(".py"), stem / "__init__.py", stem):
                if path.exists():
                    return path
            parts.pop()
    return None


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The names that are imported when a file is; what follows a `pytest.importorskip` is not."""
    if path.is_dir():
        return ()
    text = path.read_text()
    body = ast.parse(text).body
    if "importorskip" in text:
        body = list(takewhile(lambda node: "importorskip" not in ast.unparse(node), body))
    return tuple(_imported(body))


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.ClassDef | ast.With):
            yield from _imported(node.body)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from _imported(node.body + node.orelse)
