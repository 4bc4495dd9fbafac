"""What a stranger has who installs the wheel, in an empty folder, with no checkout: the tour, and the pipeline.

The wheel is built from a copy of the tree and installed into a new environment. What it depends on is borrowed from
this one, since that is pip's business; nothing of Andiron is.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from andiron.shipped import FOLDERS
from pages.markdown import blocks_of
from peers.ports import free_port
from peers.quick_spark import use_quick_spark
from peers.waiting import eventually

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py", "native", "src", *FOLDERS)
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]

Run = Callable[..., str]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def andiron(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command, as pip put it into a new environment."""
    place = tmp_path_factory.mktemp("wheel")
    tree, wheels, environment = place / "tree", place / "wheels", place / "environment"
    copy_tree(tree)
    subprocess.run([*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, tree], check=True)
    venv.create(environment, symlinks=True)
    (wheel,) = wheels.glob("*.whl")
    python = environment / "bin" / "python"
    subprocess.run([*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    borrowed = [each for each in sys.path if each.endswith("site-packages")]
    (site / "borrowed.pth").write_text("\n".join(borrowed))
    return environment / "bin" / "andiron"


def copy_tree(target: Path) -> None:
    """What a wheel is built from; building leaves things behind, so not in the checkout itself."""
    for name in BUILT_FROM:
        source = ROOT / name
        if source.is_dir():
            left = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
            shutil.copytree(source, target / name, ignore=left)
        else:
            target.mkdir(exist_ok=True)
            shutil.copy(source, target / name)


@pytest.fixture
def run(andiron: Path, tmp_path: Path) -> Run:
    """Run a command in an empty folder, to its good end."""
    use_quick_spark()
    hidden = ("PYTHONPATH", "ANDIRON_PIPELINES")
    environ = {name: value for name, value in os.environ.items() if name not in hidden}

    def call(*arguments: str, stdin: str = "", ends: int = 0) -> str:
        done = subprocess.run(
            [andiron, *arguments],
            cwd=tmp_path,
            env=environ,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == ends, done.stderr
        return done.stdout

    return call


def test_the_folders_that_help_and_documentation_name_are_there(run: Run, tmp_path: Path) -> None:
    listed = {each["name"]: Path(each["folder"]) for each in json.loads(run("files", "list", "--json"))}

    assert list(listed) == list(FOLDERS)
    assert ROOT not in listed["docs"].parents
    for page in re.findall(r"docs/(\w+\.md)", run("up", "--help") + run("table", "--help")):
        assert (listed["docs"] / page).is_file()
    assert "orders" in run("pipeline", "list")
    run("files", "copy", "deploy")
    assert (tmp_path / "deploy/systemd/andiron@.service").is_file()
    run("files", "copy", "pipelines", "jobs")
    assert not list((tmp_path / "jobs").rglob("test_*"))


def test_the_tour_works_as_typed(andiron: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs/getting-started.md").read_text()
    tour = re.search(r"## Topics and records\n(.*?)## With Spark", page, re.S)
    assert tour
    port = str(free_port())
    blocks = re.findall(r"```(sh|python)\n(.*?)```", tour[1].replace("9092", port), re.S)
    with node_in(tmp_path, andiron, port):
        done = [typed(language, block, andiron, port, tmp_path) for language, block in blocks]

    assert [each.stderr for each in done if each.returncode] == []
    told = "".join(each.stdout for each in done)
    assert "customer-42\tpaid" in told, "andiron consume"
    assert "b'paid'" in told or "b'shipped'" in told, "the consumer of confluent-kafka"
    assert "CompleteCommit" in told, "andiron transaction list"


@contextlib.contextmanager
def node_in(folder: Path, andiron: Path, port: str) -> Iterator[None]:
    """A node in another terminal, its records in the folder's ./data."""
    with subprocess.Popen([andiron, "up", "--port", port, "--quiet"], cwd=folder) as node:
        try:
            eventually(lambda: typed("sh", "andiron topic list", andiron, port, folder).returncode == 0)
            yield
        finally:
            node.terminate()


def typed(
    language: str, block: str, andiron: Path, port: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    """What comes of a block that somebody types in."""
    program = ["bash", "-ec", block] if language == "sh" else [andiron.with_name("python"), "-c", block]
    ours = {"PATH": f"{andiron.parent}:{os.environ['PATH']}", "ANDIRON_BOOTSTRAP": f"localhost:{port}"}
    environ = {**os.environ, **ours}
    return subprocess.run(program, cwd=folder, env=environ, capture_output=True, text=True, check=False)


def test_the_pipeline_runs_from_an_empty_folder_and_its_table_is_read_as_its_page_says(
    run: Run, andiron: Path, tmp_path: Path
) -> None:
    port = str(free_port())
    told = run(
        *("pipeline", "run", "orders", "--embedded", "-b", f"localhost:{port}", "--results"),
        *("--sample-total", "200", "--set", "trigger=available-now"),
    )

    assert "orders is stopped; the next run goes on from here" in told
    state = json.loads(run("pipeline", "status", "orders", "--json", ends=3))
    assert [query["rows"] > 200 for query in state["queries"]] == [True] * 3
    page = blocks_of(ROOT / "pipelines/orders/README.md")
    blocks = [block for block in page if block.run_by == "tests/installed/test_wheel.py"]
    with node_in(tmp_path, andiron, port):
        read, verified = [typed(each.language, each.text, andiron, port, tmp_path) for each in blocks]
    assert "EUR" in read.stdout, read.stderr
    assert "table and log agree" in verified.stdout, verified
