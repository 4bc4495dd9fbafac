"""How a broker is put together: nothing in it calls upward, and no machine below it does.

A part is given what lies below it, as objects, and one Step (broker/node/step.py) to note what it has done; what
follows from that is Broker.end_step's business. A machine answers whoever calls it, and keeps no function that would
call back. These are the rules that keep it so.
"""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[3] / "src"
ROOT = SRC / "andiron" / "broker"
FILES = sorted(ROOT.rglob("*.py"))
MACHINES = sorted(
    path
    for package in ("log", "replication", "quorum", "controller", "groups", "transactions")
    for path in (SRC / "andiron" / package).rglob("*.py")
)
PARAMETERS_MAX = 6

# Modules that need each other, and why; everything else can be read from the bottom up.
KNOTS = {
    # Whom to fetch from is for the quorum to say, and what the leader answers is for the quorum to hear, at once.
    frozenset(
        {
            "metadata.raft_client",
            "metadata.metadata_fetcher",
            "metadata.snapshot_fetcher",
            "metadata.voter_update",
        }
    ),
    # An envelope holds a request, for which there is a handler in the table that the envelope's own is in.
    frozenset({"handlers", "handlers.envelope"}),
}
# Values that are made once a request, on the hottest way there is: a noun for two fields would be one object more.
PLAIN_VALUES = {"Request"}
# Functions that are kept, and why: most are questions, which change nothing.
FUNCTIONS = {
    ("ReplicationQuota", "rate"): "which of the settings it is, and nothing but them is asked",
    ("Shard", "encode"): "a record to its bytes",
    (
        "CommitTerms",
        "rule",
    ): "a function of offsets, chosen anew when the voters change: asked with every fetch",
    (
        "PartitionLog",
        "on_cut",
    ): "a recovery point above a cut must be down before the next append, in this very step",
    ("Controller", "bootstrap"): "reads a file of a new cluster, and only where the log is empty",
    ("GroupShard", "configs"): "a question to the committed image: what is set for a group",
    ("GroupShard", "batch_max"): "a question to the partition's configs: how large a batch may be",
    ("GroupShard", "held_by_all"): "a question to the shards beside it: how much memory they hold",
    ("GroupContext", "configs"): "as of GroupShard, which hands it on",
    ("GroupContext", "batch_max"): "as of GroupShard, which hands it on",
    (
        "Heartbeat",
        "is_free",
    ): "a question to the group that is being changed: does nobody hold this partition?",
    ("TransactionShard", "has_partition"): "a question to the committed image: is there such a partition?",
    ("OwedMarkers", "has_partition"): "as of TransactionShard, which hands it on",
}


def name_of(path):
    return (
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        .removesuffix(".__init__")
        .removesuffix("__init__")
    )


MODULES = {name_of(path): path for path in FILES}


def imports_of(path):
    """The modules of the broker that a module names, be it only for its types."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("andiron.broker"):
            module = node.module.removeprefix("andiron.broker").lstrip(".")
            for alias in node.names:
                inner = f"{module}.{alias.name}".lstrip(".")
                yield inner if inner in MODULES else module


def circles(graph):
    """The sets of modules each of which is reached from every other (Tarjan)."""
    order, low, stack, found = {}, {}, [], set()

    def visit(module):
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in graph[module]:
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            circle = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(circle) > 1:
                found.add(frozenset(circle))

    for module in graph:
        if module not in order:
            visit(module)
    return found


def constructors():
    """(class, its __init__) of every class of the broker and of the machines that is no mere value."""
    for path in [*FILES, *MACHINES]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and node.name not in PLAIN_VALUES:
                for made in node.body:
                    if isinstance(made, ast.FunctionDef) and made.name == "__init__":
                        yield pytest.param(node.name, made, id=f"{path.stem}.{node.name}")


def function_types():
    """What is short for the type of a function somewhere in them."""
    for path in [*FILES, *MACHINES]:
        for node in ast.parse(path.read_text()).body:
            named = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            if named and ast.unparse(node.value).startswith("Callable["):
                yield ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])


FUNCTION_TYPES = {"Callable", *function_types()}


def names_in(annotation):
    """The last names in an annotation, those of another module's too."""
    names = {each.id for each in ast.walk(annotation) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(annotation) if isinstance(each, ast.Attribute)}


def kept_functions(path):
    """(class, field) of every function that an object of a module keeps, but for tables of its own methods."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ClassDef):
            continue
        for each in ast.walk(node):
            if isinstance(each, ast.AnnAssign) and names_in(each.annotation) & FUNCTION_TYPES:
                field = ast.unparse(each.target).removeprefix("self.")
                if not ast.unparse(each.annotation).startswith("dict[type, "):
                    yield node.name, field


def parameters(function):
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs][1:]


def test_modules_form_no_circle_but_the_knots_that_have_a_reason():
    graph = {name: sorted(set(imports_of(path)) - {name}) for name, path in MODULES.items()}

    assert circles(graph) == KNOTS


@pytest.mark.parametrize("name, made", list(constructors()))
def test_a_constructor_takes_few_things_and_none_of_them_is_a_function(name, made):
    given = parameters(made)
    functions = [each.arg for each in given if names_in(each.annotation) & FUNCTION_TYPES]

    assert len(given) <= PARAMETERS_MAX
    assert [each for each in functions if (name, each) not in FUNCTIONS] == []


def test_a_machine_keeps_no_function_but_those_that_have_a_reason():
    kept = {each for path in MACHINES for each in kept_functions(path)}

    assert sorted(kept - FUNCTIONS.keys()) == []


def test_every_reason_is_of_a_function_that_is_there():
    given = {
        (made.values[0], each.arg)
        for made in constructors()
        for each in parameters(made.values[1])
        if names_in(each.annotation) & FUNCTION_TYPES
    }
    kept = {each for path in MACHINES for each in kept_functions(path)}

    assert sorted(FUNCTIONS.keys() - given - kept) == []


def test_the_broker_hands_out_nothing_of_its_own():
    """No method of the broker goes to one of its parts, and no function that would ask the broker later."""
    [broker] = [
        node
        for node in ast.parse((ROOT / "broker.py").read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == "Broker"
    ]
    methods = {each.name: each for each in broker.body if isinstance(each, ast.FunctionDef)}
    inside = list(ast.walk(methods["__init__"]))

    of_its_own = [
        ast.unparse(node)
        for node in inside
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self" and node.attr in methods
    ]
    asked_later = [
        ast.unparse(node)
        for node in inside
        if isinstance(node, ast.Lambda | ast.FunctionDef)
        and node is not methods["__init__"]
        and any(isinstance(each, ast.Name) and each.id == "self" for each in ast.walk(node))
    ]
    handed_on = [ast.unparse(node) for node in inside if isinstance(node, ast.Name) and node.id == "partial"]
    assert of_its_own == asked_later == handed_on == []


def test_nothing_is_called_by_what_it_is_handed():
    names = {
        node.name
        for path in [*FILES, *MACHINES]
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }
    assert names.isdisjoint({"Surroundings", "Told"})
