"""Tables that queries write: each record once, also when a batch is run again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow.dataset as ds
import pytest

from andiron.client.blocking.client import Client
from peers.node import Node
from peers.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from andiron.spark.tables.verdict import Verdict

SCHEMA = "id STRING NOT NULL, minute INT NOT NULL, amount DECIMAL(10,2)"


def order(number: int) -> str:
    return json.dumps({"id": f"o-{number}", "minute": number % 3, "amount": number / 100})


def records(spark: SparkSession, node: Node, topic: str, limit: int = 40) -> DataFrame:
    options = {
        "kafka.bootstrap.servers": node.bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": limit,
    }
    return spark.readStream.format("andiron").options(**options).load()


def run(writer: Any) -> None:
    """To the end of the log."""
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()


def forget_last_commit(checkpoint: str) -> None:
    """As if the driver had been killed before Spark noted the batch."""
    commits = [path for path in Path(checkpoint, "commits").iterdir() if path.name.isdigit()]
    last = max(commits, key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def verified(node: Node, table: str) -> Verdict:
    from andiron.spark.tables.table_format import open_table
    from andiron.spark.tables.verification import verify

    with Client(node.bootstrap) as client:
        return verify(open_table(table), client)


def test_a_table_has_every_record_once_and_the_rest_are_dead_letters(
    spark: SparkSession, node: Node, topics: Topics, checkpoint: str, tmp_path: Path
) -> None:
    from andiron.spark import ParquetTable, typed_json

    topic, dead, table = topics.make(2), topics.make(1), str(tmp_path / "orders")
    topics.write(topic, [order(number) for number in range(40)], partition=0)
    topics.write(topic, [*(order(number) for number in range(18)), "nonsense", "{}"], partition=1)
    made = typed_json(records(spark, node, topic), SCHEMA, dead_letters=dead, reader="orders")
    query = ParquetTable(table).append(made, checkpoint=checkpoint, bootstrap=node.bootstrap)
    run(query)

    forget_last_commit(checkpoint)
    topics.write(topic, [order(99), "[]"], partition=0)
    run(query)

    verdict = verified(node, table)
    assert verdict.findings == []
    assert (verdict.records, verdict.rows, verdict.dead_letters) == (62, 59, 3)
    assert ds.dataset(table, partitioning="hive").to_table().num_rows == 59
    assert spark.read.parquet(table).count() == 59


def test_a_batch_that_is_run_again_is_not_appended_again_unless_naively(
    spark: SparkSession, node: Node, topics: Topics, tmp_path: Path
) -> None:
    from andiron.spark import DeltaTable, typed_json

    topic = topics.make(1)
    topics.write(topic, [order(number) for number in range(50)])
    rows = typed_json(records(spark, node, topic), SCHEMA, dead_letters="none").rows
    ours, naive = str(tmp_path / "ours"), str(tmp_path / "naive")
    kept = {name: str(tmp_path / f"{name}-checkpoint") for name in ("ours", "naive")}

    def append(batch: DataFrame, _: int) -> None:
        batch.write.mode("append").parquet(naive)

    queries = {
        "ours": DeltaTable(ours).append(rows, checkpoint=kept["ours"]),
        "naive": rows.writeStream.foreachBatch(append).option("checkpointLocation", kept["naive"]),
    }
    for name, query in queries.items():
        run(query)
        forget_last_commit(kept[name])
        run(query)

    assert verified(node, ours).agrees
    assert deltalake.DeltaTable(ours).to_pyarrow_table().num_rows == 50
    assert ds.dataset(naive).to_table().num_rows == 60


def test_sums_are_replaced_and_add_up(
    spark: SparkSession, node: Node, topics: Topics, checkpoint: str, tmp_path: Path
) -> None:
    from pyspark.sql import functions as fn

    from andiron.spark import DeltaTable, typed_json

    topic, table = topics.make(1), str(tmp_path / "sums")
    topics.write(topic, [order(number) for number in range(50)])
    rows = typed_json(records(spark, node, topic), SCHEMA, dead_letters="none").rows
    sums = rows.groupBy("minute").agg(fn.count("*").alias("records"), fn.sum("amount").alias("amount"))
    query = DeltaTable(table).upsert(sums, ["minute"], checkpoint=checkpoint, count="records")
    run(query)
    forget_last_commit(checkpoint)
    topics.write(topic, [order(number) for number in range(50, 60)])
    run(query)

    found = {row["minute"]: row for row in deltalake.DeltaTable(table).to_pyarrow_table().to_pylist()}
    assert {minute: row["records"] for minute, row in found.items()} == {0: 20, 1: 20, 2: 20}
    assert sum(row["amount"] for row in found.values()) * 100 == sum(range(60))
    verdict = verified(node, table)
    assert verdict.agrees
    assert (verdict.records, verdict.rows) == (60, 60)


def test_late_records_are_counted(
    spark: SparkSession, node: Node, topics: Topics, checkpoint: str, tmp_path: Path
) -> None:
    from andiron.spark import DeltaTable, typed_json, windowed

    topic, table = topics.make(1), str(tmp_path / "windows")
    hours = [
        0,
        1,
        9,
        9,
        9,
        9,
        0,
        0,
    ]  # two a batch: the watermark passes 8:59 with the second, and counts with the fourth
    topics.write(topic, [json.dumps({"at": f"2026-01-02T0{hour}:00:00Z"}) for hour in hours])
    rows = typed_json(records(spark, node, topic, limit=2), "at TIMESTAMP NOT NULL", dead_letters="none").rows
    windows = windowed(rows, time="at", size="1 minute", delay="1 minute")
    run(DeltaTable(table).upsert(windows, ["window_start"], checkpoint=checkpoint, count="records"))

    verdict = verified(node, table)
    assert verdict.agrees
    assert (verdict.records, verdict.rows, verdict.late) == (8, 6, 2)


def test_aborted_records_are_told_where_a_query_reads_them(
    spark: SparkSession, node: Node, topics: Topics, checkpoint: str, tmp_path: Path
) -> None:
    from andiron.spark import ParquetTable, typed_json

    topic, table = topics.make(1), str(tmp_path / "table")
    topics.write(topic, [order(0)])
    topics.write_transaction(topic, [order(1), order(2)], commit=False)
    rows = typed_json(records(spark, node, topic), SCHEMA, dead_letters="none").rows
    run(ParquetTable(table).append(rows, checkpoint=checkpoint))

    (found,) = verified(node, table).findings
    assert (found.what, found.offsets) == ("aborted", 2)


def test_a_new_checkpoint_on_an_old_table_is_refused(
    spark: SparkSession, node: Node, topics: Topics, checkpoint: str, tmp_path: Path
) -> None:
    from andiron.spark import ParquetTable, typed_json

    topic = topics.make(1)
    topics.write(topic, [order(0)])
    rows = typed_json(records(spark, node, topic), SCHEMA, dead_letters="none").rows
    table = ParquetTable(str(tmp_path / "table"))
    run(table.append(rows, checkpoint=checkpoint))
    shutil.rmtree(checkpoint)

    with pytest.raises(Exception, match=r"is written by the query .* its old checkpointLocation back"):
        run(table.append(rows, checkpoint=checkpoint))
    assert table.count_rows() == 1
