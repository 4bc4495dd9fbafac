"""The orders pipeline as a whole, on Spark: killed on the way, on three brokers, and on a cluster of Spark's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checking import check
from feed import Feed
from job import Settings, prepare
from proof import prove
from sample import Sample

from peers.node import Node
from peers.ports import A_CLUSTER, free_port
from peers.spark_cluster import SparkCluster, bare_python

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

NODE = {"transaction.two.phase.commit.enable": "true"}


@pytest.mark.parametrize("brokers", [pytest.param(1, marks=pytest.mark.long), 3])
def test_every_cent_arrives_though_the_driver_is_killed_and_a_broker_too(
    tmp_path: Path, brokers: int
) -> None:
    """One broker is restarted in order; of three, one is killed with kill -9."""
    sample = Sample(seed=5, orders=1_500, every_ms=160, malformed=0.02)

    findings = prove(sample, str(tmp_path), {"max.offsets": "1500"}, print, brokers, free_port(A_CLUSTER))

    assert [str(finding) for finding in findings if finding.problem] == []


def test_it_runs_on_a_cluster_with_nothing_changed_but_the_master(tmp_path: Path) -> None:
    """Of one machine; a query on several is tests/spark/test_cluster.py."""
    sample = Sample(seed=6, orders=500, malformed=0.02)
    with Node(tmp_path / "node", settings=NODE) as node, SparkCluster(tmp_path, workers=1) as cluster:
        settings = Settings(node.bootstrap, str(tmp_path / "data" / "orders"))
        prepare(settings)
        feed = Feed(settings.bootstrap, settings.topic, sample)
        feed.send(sample.ticks)
        feed.close()
        run = [
            "run",
            "orders",
            "-b",
            node.bootstrap,
            "--data",
            str(tmp_path / "data"),
            "--set",
            "trigger=available-now",
        ]
        few = {"spark.sql.shuffle.partitions": "2"}
        conf = [
            part for name, value in (cluster.conf | few).items() for part in ("--conf", f"{name}={value}")
        ]
        done = subprocess.run(
            [sys.executable, "-m", "andiron", "pipeline", *run, "--master", cluster.master, *conf],
            env={**os.environ, "PYSPARK_PYTHON": bare_python(tmp_path / "python")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + cluster.printed()
        findings = check(settings, sample)

    assert [str(finding) for finding in findings if finding.problem] == []
