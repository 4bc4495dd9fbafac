"""The shape of the code, checked like its behaviour: layers, purity, docstrings, mirrors, the README's tree.

Standard library only, so it runs wherever the tests run.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "andiron"
UNIT = ROOT / "tests" / "unit"

# Lowest first. A package imports from its own row's packages (where MAY says so) and from lower rows.
LAYERS = [
    {"model"},
    {"wire", "records", "columns"},
    {"log", "replication", "quorum", "controller", "groups", "transactions"},
    {"broker"},
    {"edge", "sim", "client"},
    {"cli", "chaos", "console", "copying", "spark", "testing"},
]
RANK = {package: rank for rank, row in enumerate(LAYERS) for package in row}

# Within a row, and across the products, only these arrows exist.
SIDEWAYS = {
    ("quorum", "replication"), ("cli", "testing"), ("cli", "spark"), ("cli", "copying"), ("chaos", "cli"),
}  # fmt: skip
# What looks allowed by rank and is not, with the modules that are the exception.
FORBIDDEN = {
    ("client", "broker"), ("client", "log"), ("client", "replication"), ("client", "quorum"),
    ("client", "controller"), ("cli", "broker"), ("cli", "log"), ("cli", "edge"), ("cli", "sim"),
    ("edge", "sim"), ("sim", "edge"), ("testing", "sim"),
}  # fmt: skip
EXCEPTIONS = {
    "cli/up.py": {"edge", "broker"},  # starts a node
    "cli/hints.py": {"broker"},
    "cli/local_cluster/start.py": {"broker"},  # checks what nodes will be told
    "cli/identity.py": {"log", "edge"},  # looks whose a log directory is, and writes it
    "cli/local_cluster/folder.py": {"broker", "log"},  # reads and writes the files that nodes start with
    "cli/kafka.py": {"broker", "edge"},  # reads a stopped node's folder
    "cli/kafka_properties.py": {"broker", "quorum"},  # the settings that go with it
    "cli/mend.py": {"log", "edge", "broker"},  # takes the damage out of a stopped node's metadata log
    "cli/dump.py": {"log", "edge", "controller"},  # reads a stopped node's files
    "cli/reference.py": {"log", "broker", "edge"},  # writes the reference pages from the tables
    "cli/sim.py": {"sim"},
}

# Below the edges a module is a function of its arguments: no clock, dice, sockets or threads.
IMPURE = {
    "asyncio", "concurrent", "datetime", "io", "multiprocessing", "os", "pathlib", "random", "secrets",
    "select", "selectors", "signal", "socket", "ssl", "subprocess", "threading", "time", "uuid",
}  # fmt: skip
PURE_UP_TO = RANK["broker"]

LINES_MAX = 400
# A module that is one table stays one module, however long the table is.
TABLES = {"controller/records.py"}

MODULES = sorted(p for p in SRC.rglob("*.py") if p.parent != SRC)
IDS = [str(p.relative_to(SRC)) for p in MODULES]
every_module = pytest.mark.parametrize("path", MODULES, ids=IDS)


def package_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0]


def imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@every_module
def test_imports_point_down(path):
    package, name = package_of(path), str(path.relative_to(SRC))
    for imported in imports(path):
        if not imported.startswith("andiron."):
            continue
        target = imported.split(".")[1]
        assert RANK[target] <= RANK[package], f"{name} imports {imported}, which lies above it"
        if target in EXCEPTIONS.get(name, ()):
            continue
        assert (package, target) not in FORBIDDEN, f"{name} may not import {imported}"
        if RANK[target] == RANK[package] >= RANK["log"] and target != package:
            assert (package, target) in SIDEWAYS, f"{name} imports its neighbour {imported}"


@every_module
def test_machines_are_pure(path):
    if RANK[package_of(path)] <= PURE_UP_TO:
        assert not {name.split(".")[0] for name in imports(path)} & IMPURE


@every_module
def test_every_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


@every_module
def test_a_module_has_one_noun(path):
    if str(path.relative_to(SRC)) not in TABLES:
        assert len(path.read_text().splitlines()) <= LINES_MAX, "look for the second noun in it"


def is_protocol(node: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def does_something(path: Path) -> bool:
    """Whether a module has a function, or a class with a method: declarations alone need no test."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            return True
        is_class = isinstance(node, ast.ClassDef) and not is_protocol(node)
        if is_class and any(isinstance(inside, ast.FunctionDef) for inside in node.body):
            return True
    return False


# Held to account elsewhere, all of them at once.
TESTED_TOGETHER = {
    "wire/messages/": "properties/test_wire_oracle.py",
    "sim/clients/": "simulation/test_seeds.py",
    "sim/": "simulation/test_planted_bugs.py",
}


@every_module
def test_every_module_has_a_test_of_its_name(path):
    relative = path.relative_to(SRC)
    if path.name in ("__init__.py", "__main__.py") or not does_something(path):
        return
    together = [test for prefix, test in TESTED_TOGETHER.items() if str(relative).startswith(prefix)]
    own = [UNIT / relative.parent / f"test_{path.name}"]
    if package_of(path) == "spark":  # what is nothing but an expression of Spark's is tried on Spark
        own.append(ROOT / "tests" / "spark" / f"test_{path.name}")
    assert any(test.exists() for test in own) or any((ROOT / "tests" / test).exists() for test in together)


def test_the_tree_in_the_readme_is_the_tree():
    block = re.search(r"```text\n(src/andiron/.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert block, "README.md shows the layout"
    told = {line.split()[0].strip("/") for line in block[1].splitlines()[1:] if line.strip()}
    there = {p.name for p in SRC.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert told == there
