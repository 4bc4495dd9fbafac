"""A query on a real cluster whose machines have never heard of Andiron: all they need comes with the session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from peers.node import Node

if TYPE_CHECKING:
    from peers.topics import Topics

cluster = pytest.importorskip("peers.spark_cluster", reason="pyspark is not installed")

# Nothing in it is about a cluster but the master's address.
PROGRAM = """
import json, os, sys
from andiron.spark import session

master, conf, bootstrap, source, sink, checkpoint = sys.argv[1:]
spark = session("cluster", master=master, **json.loads(conf))
node = {"kafka.bootstrap.servers": bootstrap}
rows = spark.readStream.format("andiron").options(**node, subscribe=source, startingOffsets="earliest").load()
out = rows.selectExpr("key", "upper(cast(value AS string)) AS value").writeStream.format("andiron")
out = out.options(**node, topic=sink, checkpointLocation=checkpoint)
out.trigger(availableNow=True).start().awaitTermination()


def place(batches):
    import pyarrow, andiron, cramjam
    for _ in batches:
        yield pyarrow.RecordBatch.from_pydict({"place": [f"{sys.executable} {andiron.__file__} {cramjam.__file__}"]})


found = spark.range(0, 8, 1, 8).mapInArrow(place, "place string").collect()
print(*{row.place for row in found}, sep="\\n")
spark.stop()
"""


@pytest.mark.long  # every day the orders pipeline runs on such a cluster
def test_executors_get_what_they_need_with_the_session(tmp_path: Path, node: Node, topics: Topics) -> None:
    python = cluster.bare_python(tmp_path / "python")
    for name in ("andiron", "cramjam", "google_crc32c", "pyspark"):
        assert subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode
    source, sink = topics.make(4), topics.make(2)
    for partition in range(4):
        topics.write(source, [f"value {partition} {number}" for number in range(50)], partition, "zstd")
    with cluster.SparkCluster(tmp_path) as running:
        arguments = [
            running.master,
            json.dumps(running.conf),
            node.bootstrap,
            source,
            sink,
            str(tmp_path / "checkpoint"),
        ]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            env={**os.environ, "PYSPARK_PYTHON": python, "ANDIRON_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
            timeout=250,
        )
        assert done.returncode == 0, done.stderr + running.printed()
    assert topics.values(sink) == sorted(f"VALUE {part} {n}" for part in range(4) for n in range(50))
    places = [line.split() for line in done.stdout.splitlines()]
    assert {place[0] for place in places} == {python}
    assert all(f"{tmp_path}/work-" in file for place in places for file in place[1:])
    assert len({place[1] for place in places}) == cluster.WORKERS
