"""Writes from threads that did not start Spark: a pool of a user's, a web server's, a job's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

T = TypeVar("T")


def in_a_thread(work: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_a_stream_and_a_batch_are_written_from_a_thread(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    from andiron.spark import session

    session()  # a session of one's own is told by this
    source, target = topics.make(), topics.make()
    where = {"kafka.bootstrap.servers": topics.bootstrap}

    def batch() -> None:
        rows = spark.sql("SELECT 'a' AS value")  # createDataFrame would make the session active by itself
        rows.write.format("andiron").options(**where, topic=source).mode("append").save()

    def stream() -> None:
        read = spark.readStream.format("andiron").options(
            **where, subscribe=source, startingOffsets="earliest"
        )
        writer = read.load().writeStream.format("andiron").options(**where, topic=target)
        query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
        query.awaitTermination()

    in_a_thread(batch)
    in_a_thread(stream)

    assert topics.values(target) == ["a"]


def test_a_thread_is_given_the_session_that_runs_as_it_is(spark: SparkSession) -> None:
    from andiron.spark import session

    name = "spark.sql.session.timeZone"
    spark.conf.set(name, "Europe/Vienna")
    try:
        given = in_a_thread(session)
        assert given is spark
        assert given.conf.get(name) == "Europe/Vienna"
    finally:
        spark.conf.set(name, "UTC")
