"""Orders: one topic, three independent readers: revenue by window, the latest state of each order, notifications.

                        ┌─▶ analytics       revenue by window and currency  ─▶ a Delta table, and orders.revenue
    orders ─────────────┼─▶ search          the latest state of each order  ─▶ orders.latest, compacted
    (key: order id)     └─▶ notifications   events with who is to be told   ─▶ orders.notifications
                                            what is malformed               ─▶ orders.dead-letters

Each reader has a checkpoint, a group and a pace of its own: one that is slow or broken holds up nobody, and one
that is new reads the topic from the beginning. What each writes is there exactly once, whatever is killed on the
way. Every reader passes over malformed records; notifications, which is the one that looks at every record,
also hands them on.

    andiron pipeline run orders --set window="5 minutes"
    spark-submit pipelines/orders/job.py bootstrap=localhost:9092 data=/tmp/orders

Read next: sample.py for the orders, outputs.py for what comes out.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from feed import Feed
from outputs import Outputs
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as fn
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from sample import Sample, customers

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.settings import DAY, INT, LIST, LONG, STRING, parse, setting
from andiron.spark import DeltaTable, Typed, session, start_queries, typed_json, windowed
from andiron.spark.frames.dead_letters import HEADERS
from andiron.spark.frames.latest import latest_per_key
from andiron.spark.frames.windows import RECORDS, START

ANALYTICS, NOTIFICATIONS, SEARCH = READERS = ("analytics", "notifications", "search")
AVAILABLE_NOW = "available-now"
ORDER = """
    order_id string NOT NULL, customer string NOT NULL, status string NOT NULL, amount bigint NOT NULL,
    currency string NOT NULL, at timestamp NOT NULL,
    items array<struct<product: string, quantity: int, price: bigint>> NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen."""

    bootstrap: str = setting("bootstrap", STRING, "localhost:9092", "A broker of the cluster.")
    data: str = setting("data", STRING, "pipeline-data/orders", "Where checkpoints and tables are kept.")
    topic: str = setting("topic", STRING, "orders", "What is read; the other topics' names begin with it.")
    partitions: int = setting("partitions", INT, 2, "Of each topic, where they are made.", least=1)
    window: str = setting("window", STRING, "1 minute", "How long a window of revenue is.")
    watermark: str = setting("watermark", STRING, "10 minutes", "How late an event may come and still count.")
    trigger: str = setting(
        "trigger",
        STRING,
        "1 second",
        f"How often a batch begins; {AVAILABLE_NOW} ends at the end of the topic.",
    )
    max_offsets: int = setting(
        "max.offsets", LONG, 100_000, "The most records in a batch of a reader.", least=1
    )
    readers: tuple[str, ...] = setting("readers", LIST, READERS, "Which of the three run.", choices=READERS)

    @property
    def revenue_topic(self) -> str:
        return f"{self.topic}.revenue"

    @property
    def latest_topic(self) -> str:
        return f"{self.topic}.latest"

    @property
    def notifications_topic(self) -> str:
        return f"{self.topic}.notifications"

    @property
    def dead_letters_topic(self) -> str:
        return f"{self.topic}.dead-letters"

    @property
    def revenue_table(self) -> str:
        return f"{self.data}/tables/revenue"

    def group(self, reader: str) -> str:
        """The group as which lag tools see a reader."""
        return f"{self.topic}-{reader}"

    def checkpoint(self, reader: str) -> str:
        """Where a reader keeps how far it is."""
        return f"{self.data}/checkpoints/{reader}"


SETTINGS = Settings
LASTING = ("topic", "window")  # windows of two lengths, or of two topics, would not add up in one table


def prepare(settings: Settings) -> None:
    """Make the topics that are not there."""
    compacted = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.2"}
    kept = {"retention.ms": str(30 * DAY)}
    wanted = {
        settings.topic: kept,
        settings.revenue_topic: compacted,
        settings.latest_topic: compacted,
        settings.notifications_topic: {},
        settings.dead_letters_topic: kept,
    }
    with Client(settings.bootstrap) as client:
        for name, configs in wanted.items():
            try:
                Admin(client).create_topic(name, settings.partitions, configs=configs)
            except ProtocolError as error:
                if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise


def start(spark: SparkSession, settings: Settings) -> list[StreamingQuery]:
    """Start the readers that are wanted."""
    # A batch without records would only forget windows that are over; the next one with records does it too.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    readers = {ANALYTICS: analytics, SEARCH: search, NOTIFICATIONS: notifications}
    return start_queries([partial(readers[reader], spark, settings) for reader in settings.readers])


# ── the three readers ────────────────────────────────────────────────────────────────


def analytics(spark: SparkSession, settings: Settings) -> DataStreamWriter:
    """Revenue by window and currency: each batch updates the windows that it changed, in the table and in the topic."""
    orders = read(spark, settings, ANALYTICS)
    is_paid = fn.col("status") == "paid"
    revenue = windowed(
        orders.rows,
        fn.count_if(is_paid).alias("orders_paid"),
        fn.sum(fn.when(is_paid, fn.col("amount")).otherwise(0)).alias("revenue_cents"),
        time="at",
        size=settings.window,
        delay=settings.watermark,
        by=["currency"],
    )
    checkpoint = settings.checkpoint(ANALYTICS)
    upsert = DeltaTable(settings.revenue_table).upserting(
        revenue,
        [START, "currency"],
        checkpoint=checkpoint,
        count=RECORDS,
        dead_letters=settings.dead_letters_topic,
        reader=NOTIFICATIONS,
        reader_group=settings.group(NOTIFICATIONS),
    )

    def write(rows: DataFrame, batch: int) -> None:
        rows.persist()
        upsert(rows, batch)
        topic = fn.lit(settings.revenue_topic).alias("topic")
        records = rows.select(window_key().alias("key"), fn.to_json(fn.struct("*")).alias("value"), topic)
        write_to_topics(records, settings, ANALYTICS)
        rows.unpersist()

    return named(revenue.writeStream.outputMode("update").foreachBatch(write), settings, ANALYTICS)


def window_key() -> Column:
    """What tells one window's sums from another's, in the compacted topic."""
    return fn.concat_ws(" ", fn.date_format(START, "yyyy-MM-dd'T'HH:mm:ss'Z'"), "currency")


def search(spark: SparkSession, settings: Settings) -> DataStreamWriter:
    """The latest state of each order, for an index that follows the topic.

    No state is kept: each batch writes the newest of what it has, and the compacted topic remembers the rest.
    """
    orders = read(spark, settings, SEARCH)

    def write(parsed: DataFrame, batch: int) -> None:
        newest = latest_per_key(orders.rows_of(parsed), "order_id")
        write_to_topics(newest.withColumn("topic", fn.lit(settings.latest_topic)), settings, SEARCH)

    return named(orders.parsed.writeStream.foreachBatch(write), settings, SEARCH)


def notifications(spark: SparkSession, settings: Settings) -> DataStreamWriter:
    """Every event with whom to tell and what; what is malformed goes to the dead letters in the same transaction."""
    orders = read(spark, settings, NOTIFICATIONS)
    people = spark.createDataFrame(customers()).persist()

    def write(parsed: DataFrame, batch: int) -> None:
        parsed.persist()
        told = messages(orders.rows_of(parsed), people).select(
            "key",
            "value",
            fn.lit(None).cast(HEADERS).alias("headers"),
            fn.lit(settings.notifications_topic).alias("topic"),
        )
        write_to_topics(told.unionByName(orders.bad_of(parsed)), settings, NOTIFICATIONS)
        parsed.unpersist()

    return named(orders.parsed.writeStream.foreachBatch(write), settings, NOTIFICATIONS)


def messages(orders: DataFrame, people: DataFrame) -> DataFrame:
    """Who is told what, by which channel."""
    amount = fn.format_string("%d.%02d", fn.expr("amount div 100"), fn.col("amount") % 100)
    text = fn.concat_ws(
        " ", fn.lit("your order"), "order_id", fn.lit("of"), amount, "currency", fn.lit("is"), "status"
    )
    joined = orders.join(fn.broadcast(people), "customer", "left").withColumn("text", text)
    fields = ["order_id", "customer", "name", "channel", "status", "amount", "currency", "at", "text"]
    return joined.select("key", fn.to_json(fn.struct(*fields)).cast("binary").alias("value"))


# ── what they have in common ─────────────────────────────────────────────────────────


def read(spark: SparkSession, settings: Settings, reader: str) -> Typed:
    """The topic from its beginning, as orders; malformed records apart."""
    records = (
        spark.readStream.format("andiron")
        .option("kafka.bootstrap.servers", settings.bootstrap)
        .option("subscribe", settings.topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", settings.max_offsets)
        .option("group.id", settings.group(reader))
        .load()
    )
    return typed_json(records, ORDER, dead_letters=settings.dead_letters_topic, reader=reader)


def write_to_topics(rows: DataFrame, settings: Settings, reader: str) -> None:
    """A batch of records, once: by query, batch and sink the log knows whether they are there already.

    How far the reader is goes to its group in the same transaction.
    """
    writer = rows.write.format("andiron").option("kafka.bootstrap.servers", settings.bootstrap)
    writer = writer.option("group.id", settings.group(reader))
    writer = writer.option("checkpointLocation", settings.checkpoint(reader))
    writer.option("sink.id", reader).mode("append").save()


def named(writer: DataStreamWriter, settings: Settings, reader: str) -> DataStreamWriter:
    """A reader under its own name, with its own trigger and checkpoint, ready to be started."""
    if settings.trigger == AVAILABLE_NOW:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=settings.trigger)
    writer = writer.queryName(f"{settings.topic}-{reader}")
    return writer.option("checkpointLocation", settings.checkpoint(reader))


# ── for `andiron pipeline run`, and for spark-submit ─────────────────────────────────


def about(settings: Settings) -> list[str]:
    """Where things are."""
    written = (
        settings.revenue_topic,
        settings.latest_topic,
        settings.notifications_topic,
        settings.dead_letters_topic,
    )
    return [
        f"topics       {settings.topic} is read; {', '.join(written)} are written, at {settings.bootstrap}",
        f"table        {settings.revenue_table}, a Delta table",
        f"checkpoints  {settings.data}/checkpoints",
        f"groups       {', '.join(settings.group(reader) for reader in settings.readers)}",
    ]


def feed(settings: Settings, rate: float | None, total: int | None) -> Feed:
    """Sample orders: new ones in each run, of the present if they come at a rate."""
    now_ms = time.time_ns() // 1_000_000
    seed = now_ms // 1_000 % (1 << 24)
    if rate is None:
        return Feed(settings.bootstrap, settings.topic, Sample(seed, total or 0))
    endless = 10_000_000
    sample = Sample(seed, total or endless, start_ms=now_ms, every_ms=1_000 / rate)
    return Feed(settings.bootstrap, settings.topic, sample)


def results(settings: Settings) -> Outputs:
    """What comes out, to be looked at."""
    return Outputs(settings)


def main(arguments: list[str]) -> None:
    """Run until all readers have ended; arguments are settings, name=value."""
    given = dict(each.split("=", 1) for each in arguments)
    settings: Any = parse(Settings, given)
    prepare(settings)
    spark = session("orders")
    for query in start(spark, settings):
        query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1:])
