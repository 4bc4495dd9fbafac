"""The latest state of each key, kept by the query and written as rows of a compacted topic.

    o-1 placed   o-2 placed   o-1 paid   o-1 shipped          the topic, by offset
                                             │
    o-1 {"status": "shipped", …}   o-2 {"status": "placed", …}    what update mode writes, once a key and batch

The state is one row for each key there ever was, so it belongs into RocksDB (a session of `andiron.spark` has it
there). Spark allows update mode to a sink in Python in foreachBatch only, where `sink.id` makes the write count once:

    def write(batch, number):
        batch.write.format("andiron").option("topic", "latest").option("sink.id", "latest").….save()

    latest_per_key(orders, "order_id").writeStream.outputMode("update").foreachBatch(write)

The state cannot shrink; where keys are done with at some point, let `deleted` say when: their value becomes a
tombstone, which compaction removes from the topic in time.

What is latest is decided by `order`, the offset by default: records of one key are in one partition, and its
offsets are their order. After a topic has got more partitions a key's records may be in two; take an event time
then.

Read next: windows.py; sink/spark_writers.py, which writes the rows.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from andiron.spark.frames.typed import ORIGIN

NO_KEY = "a row without {0!r} has no latest state; have it NOT NULL in the schema, and such records are dead letters"


def latest_per_key(
    rows: DataFrame, by: str, *, order: str = "offset", deleted: Column | None = None
) -> DataFrame:
    """The newest row of each `by`, as `key` and `value` (JSON of the row's own columns), to be written in update mode.

    A key for whose newest row `deleted` holds has a null value.
    """
    own = [name for name in rows.columns if name not in ORIGIN]
    gone = fn.lit(False) if deleted is None else fn.coalesce(deleted, fn.lit(False))
    state = fn.struct(*own, gone.alias("_deleted"))
    newest = rows.groupBy(fn.col(by).alias("_by")).agg(fn.max_by(state, fn.col(order)).alias("newest"))
    row = fn.struct(*[fn.col(f"newest.{name}") for name in own])
    key = fn.coalesce(fn.col("_by").cast("string"), fn.raise_error(fn.lit(NO_KEY.format(by))))
    return newest.select(
        key.cast("binary").alias("key"),
        fn.when(~fn.col("newest._deleted"), fn.to_json(row)).cast("binary").alias("value"),
    )
