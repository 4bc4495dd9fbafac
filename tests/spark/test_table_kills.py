"""Tables whose writers are killed at each step: nothing is lost, nothing is double, and nothing is left lying about.

A naive append is killed too, in the one place where it shows: were it right as well, the test would prove nothing.

Each kill is a new Spark, so every day has one; all of them are in `make kills`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from andiron.client.blocking.client import Client
from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from andiron.spark.tables.verdict import Verdict

JOB = Path(__file__).with_name("table_job.py")
KILLED = -9
BATCH = 20  # records
STEPS = ("table_before_write", "table_after_write", "table_before_commit", "table_after_commit")

CELLS = [
    ("delta", ("table_before_commit",)),
    *(pytest.param(kind, STEPS, marks=pytest.mark.long) for kind in ("parquet", "delta", "upsert")),
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(autouse=True)
def there_is_spark() -> None:
    java = pytest.importorskip("andiron.spark.runtime.java", reason="pyspark is not installed")
    try:
        java.find_java()
    except java.NoJava as why:
        pytest.skip(str(why))


class Runs:
    """Runs of one query, one after the other."""

    def __init__(self, node: Node, topics: Topics, at: Path, kind: str, records: int) -> None:
        self.node, self.topic, self.dead = node, topics.make(1), topics.make(1)
        self.table = str(at / "table")
        self.told = {
            "kind": kind,
            "bootstrap": node.bootstrap,
            "topic": self.topic,
            "dead": self.dead,
            "table": self.table,
            "checkpoint": str(at / "checkpoint"),
            "batch": BATCH,
        }
        bad = {7, 33, 66} if kind in ("parquet", "delta") else set()
        values = [json.dumps({"id": str(number), "shop": number % 4}) for number in range(records)]
        topics.write(self.topic, ["bad" if number in bad else value for number, value in enumerate(values)])

    def run(self, *kill_at: object) -> None:
        """To the end of the log, or to where it is killed."""
        told = json.dumps({**self.told, "kill_at": kill_at})
        done = subprocess.run(
            [sys.executable, str(JOB), told],
            start_new_session=True,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == (KILLED if kill_at else 0), done.stderr[-4000:]

    def verify(self) -> Verdict:
        """The table beside its log."""
        from andiron.spark.tables.table_format import open_table
        from andiron.spark.tables.verification import verify

        with Client(self.node.bootstrap) as client:
            return verify(open_table(self.table), client)


@pytest.mark.parametrize(("kind", "steps"), CELLS)
def test_a_table_has_every_record_once_wherever_its_writer_is_killed(
    kind: str, steps: tuple[str, ...], node: Node, topics: Topics, tmp_path: Path
) -> None:
    batches = 1 + len(steps)  # one of each killed, and the first, before which there is no table
    records = BATCH * batches
    runs = Runs(node, topics, tmp_path, kind, records)

    for batch, step in enumerate(steps, start=1):
        runs.run(step, batch)
        assert not [each for each in runs.verify().findings if each.what != "beyond"]
    runs.run()

    verdict = runs.verify()
    assert verdict.findings == []
    assert (verdict.batches, verdict.records) == (batches, records)
    assert verdict.rows + verdict.dead_letters == records
    left = [path.name for path in Path(runs.table).iterdir() if path.name.startswith("_trash")]
    assert left == list(Path(runs.table).glob("_staging/*")) == []


@pytest.mark.long
def test_a_naive_append_has_records_twice(node: Node, topics: Topics, tmp_path: Path) -> None:
    runs = Runs(node, topics, tmp_path, "naive", 3 * BATCH)

    runs.run("table_after_commit", 2)
    runs.run()

    assert ds.dataset(runs.table).count_rows() == 4 * BATCH
