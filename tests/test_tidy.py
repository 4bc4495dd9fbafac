"""The shape of the code, checked like its behaviour: layers, purity, docstrings, mirrors, ARCHITECTURE's tree.

Standard library only, so it runs wherever the tests run.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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

LONG = 400  # lines; a file may be longer, if its docstring says what is in it
# Of a module that is one table the table is the contents.
TABLES = {"controller/records.py"}


PARAMETERS_MAX = 6
# Where there are more, and why; commands of the command line are not counted: each option is a parameter.
MANY_PARAMETERS = {
    "broker/node/request.py Request.__init__": "a row for each request: a noun for two fields were one object more",
    "cli/local_cluster/layout.py lay_out": "the options of `andiron up --brokers`, each by its name",
    "cli/local_cluster/start.py start_cluster": "the options of `andiron up --brokers`, each by its name",
    "client/blocking/column_reader.py ColumnReader.__init__": "for users: options with names and defaults",
    "client/tables.py read_topic": "for users: options with names and defaults",
    "model/settings.py setting": "a row of the tables of settings",
    "model/settings.py topic_setting": "a row of the tables of settings",
    "records/builder.py BatchBuilder.__init__": "the fields of a batch's header, by Kafka's names",
    "records/builder.py build": "the fields of a batch's header, by Kafka's names",
    "records/control.py control_batch": "the fields of a batch's header, by Kafka's names",
    "records/control.py end_marker": "the fields of a batch's header, by Kafka's names",
    "records/validate.py _look_at_some": "as the function in C takes them, called for each batch",
    "records/walk.py Walk.__call__": "as the function in C takes them, called for each batch",
    "records/walk.py walk": "as the function in C takes them, called for each batch",
    "records/walk.py look_at": "as the function in C takes them, called for each batch",
    "wire/schema.py Field.__init__": "a row of the tables of messages",
}


class Module(NamedTuple):
    """A file of the source, read once for all that is asked of it."""

    name: str  # where it lies, from src/andiron on
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.name.split("/")[0]

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @property
    def contents(self) -> list[str]:
        """The classes and functions that it has for others."""
        of_others = [node for node in self.tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
        return [node.name for node in of_others if not node.name.startswith("_")]

    @property
    def imports(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    paths = sorted(path for path in SRC.rglob("*.py") if path.parent != SRC)
    texts = {str(path.relative_to(SRC)): path.read_text() for path in paths}
    return [Module(name, text, ast.parse(text)) for name, text in texts.items()]


def test_imports_point_down(modules):
    wrong = [complaint for module in modules for complaint in complaints_of_imports(module)]

    assert not wrong, "\n".join(wrong)


def complaints_of_imports(module: Module) -> Iterator[str]:
    name, package = module.name, module.package
    for imported in module.imports:
        if not imported.startswith("andiron."):
            continue
        target = imported.split(".")[1]
        if RANK[target] > RANK[package]:
            yield f"{name} imports {imported}, which lies above it"
        if target in EXCEPTIONS.get(name, ()):
            continue
        if (package, target) in FORBIDDEN:
            yield f"{name} may not import {imported}"
        is_neighbour = RANK[target] == RANK[package] >= RANK["log"] and target != package
        if is_neighbour and (package, target) not in SIDEWAYS:
            yield f"{name} imports its neighbour {imported}"


def test_machines_are_pure(modules):
    machines = [module for module in modules if RANK[module.package] <= PURE_UP_TO]

    impure = {module.name: {name.split(".")[0] for name in module.imports} & IMPURE for module in machines}
    assert {name: found for name, found in impure.items() if found} == {}


def test_every_module_says_what_it_is_for(modules):
    assert [module.name for module in modules if not module.docstring] == []


def test_a_long_module_has_a_table_of_contents(modules):
    long = [
        module for module in modules if len(module.text.splitlines()) > LONG and module.name not in TABLES
    ]

    untold = {
        module.name: [name for name in module.contents if name not in module.docstring] for module in long
    }
    assert {name: missing for name, missing in untold.items() if missing} == {}


def functions_of(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function of a module, methods by their qualified names."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef):
            yield f"{inside}{each.name}", each
        is_class = isinstance(each, ast.ClassDef)
        yield from functions_of(each, f"{inside}{each.name}." if is_class else inside)


def parameters_of(name: str, function: ast.FunctionDef) -> list[str]:
    """The names of its parameters, without the object or the class that a method is of."""
    given = [
        each.arg for each in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    ]
    return given[1:] if given[:1] in (["self"], ["cls"]) and "." in name else given


def is_command(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).endswith(".command()") for each in function.decorator_list)


def test_a_function_takes_few_things(modules):
    """Where one wants more, a noun is missing; a short list says where that is not so."""
    many = {
        f"{module.name} {name}"
        for module in modules
        for name, function in functions_of(module.tree)
        if len(parameters_of(name, function)) > PARAMETERS_MAX and not is_command(function)
    }

    assert sorted(many ^ MANY_PARAMETERS.keys()) == []


def test_files_that_are_named_are_there(modules):
    """In a docstring or a comment a file is named by the end of its path; Spark's own begin with pyspark/."""
    there = {f"/{path.relative_to(ROOT)}" for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    missing = [
        f"{module.name} names {named}"
        for module in modules
        for named in re.findall(r"\w+[\w/]*\.py\b", module.text)
        if not named.startswith("pyspark/") and not any(each.endswith(f"/{named}") for each in there)
    ]

    assert missing == []


def is_protocol(node: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def does_something(module: Module) -> bool:
    """Whether a module has a function, or a class with a method: declarations alone need no test."""
    for node in module.tree.body:
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


def test_every_module_has_a_test(modules):
    assert [module.name for module in modules if not has_a_test(module)] == []


def has_a_test(module: Module) -> bool:
    """Whether there is one of its name, or one in the folder that mirrors its own which imports it."""
    path = Path(module.name)
    if path.name in ("__init__.py", "__main__.py") or not does_something(module):
        return True
    tests = [
        ROOT / "tests" / test for prefix, test in TESTED_TOGETHER.items() if module.name.startswith(prefix)
    ]
    tests.append(UNIT / path.parent / f"test_{path.name}")
    if module.package == "spark":  # what is nothing but an expression of Spark's is tried on Spark
        tests.append(ROOT / "tests" / "spark" / f"test_{path.name}")
    dotted = "andiron." + module.name.removesuffix(".py").replace("/", ".")
    return any(test.exists() for test in tests) or any(
        f"from {dotted} import" in test.read_text() for test in (UNIT / path.parent).glob("test_*.py")
    )


def test_the_tree_in_the_architecture_is_the_tree():
    block = re.search(r"```text\n(src/andiron/.*?)```", (ROOT / "ARCHITECTURE.md").read_text(), re.S)
    assert block, "ARCHITECTURE.md shows the layout"
    told = {line.split()[0].strip("/") for line in block[1].splitlines()[1:] if line.strip()}
    there = {p.name for p in SRC.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert told == there
