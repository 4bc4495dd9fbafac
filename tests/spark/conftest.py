"""Spark, a node to read from and write to, and topics: one of each kind for all tests of a process.

Starting Spark takes seconds, so its session is shared; a test stops the queries it starts and changes no
setting without putting it back. Where pyspark or Java is missing the tests are skipped, saying so.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from peers import jars, spark_kinds
from peers.node import Node
from peers.quick_spark import use_quick_spark
from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from peers.connectors import Both

use_quick_spark()

NUMBERS = itertools.count()
SETTINGS = {
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "transaction.two.phase.commit.enable": "true",
    "log.cleaner.backoff.ms": "100",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session, with the stock connector's jars on its class path where they can be had.

    It is ours, unless $ANDIRON_SPARK_KIND asks for another (tests/peers/spark_kinds.py).
    """
    ours = pytest.importorskip(
        "andiron.spark", reason="pyspark is not installed (pip install 'andiron[spark]')"
    )
    conf = {"spark.driver.memory": "1g", "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    with contextlib.suppress(jars.Missing):
        conf["spark.jars"] = ",".join(map(str, jars.connector_jars().files))
    try:
        started = spark_kinds.start(conf)
    except ours.NoJava as why:
        pytest.skip(str(why))
    yield started
    started.stop()


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """One node for all tests of this process; each test has topics of its own."""
    with Node(tmp_path_factory.mktemp("node"), settings=SETTINGS) as server:
        yield server


@pytest.fixture(scope="session")
def both(spark: SparkSession, node: Node, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """Spark's own connector and ours, side by side; skipped where Spark's is not to be had."""
    try:
        jars.connector_jars()
    except jars.Missing as why:
        pytest.skip(str(why))
    connectors = pytest.importorskip("peers.connectors")
    made: Both = connectors.Both(spark, node.bootstrap, str(tmp_path_factory.mktemp("checkpoints")))
    return made


@pytest.fixture
def topics(request: pytest.FixtureRequest, node: Node) -> Iterator[Topics]:
    """Makes, fills and reads topics that no other test uses."""
    name = request.node.originalname.removeprefix("test_")[:60]
    with contextlib.closing(Topics(node.bootstrap, f"{name}-{os.getpid()}-{next(NUMBERS)}")) as made:
        yield made


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """Where a query of this test keeps its progress."""
    return str(tmp_path / "checkpoint")
