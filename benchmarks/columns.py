"""How many records does a core turn into Arrow columns, and columns into batches, beside a loop over objects?

It bounds what a Spark task or `read_topic` can take in: behind the socket, decoding is all that is done to a
record in Python. Three ways to the same columns, in C, by numpy, and by a plain loop over records, in memory
and by CPU time, in rounds that take turns. Then the same against a node, there and back, beside
confluent-kafka: consume() and a loop that builds the columns, a loop over the columns and produce(). Its row
"decode alone" sets our decoding in memory beside the CPU of its loop's own thread, the fetching that
librdkafka does in other threads left out.

    python benchmarks/columns.py            three rounds, about six minutes
    python benchmarks/columns.py --quick    one round
    … --memory                              without the node

Measured when written (CPython 3.11, 2 cores shared with a load of 7 to 12): decoding 8 to 38 M records/s in C, 0.9 to
1.9 by numpy, 0.2 to 0.5 by the loop; encoding 5 to 24, 0.9 to 2.0 and 0.2 to 0.5. Beside confluent-kafka, decoding
alone is 19 to 52 times ahead of its loop and encoding 17 to 33; with the fetching, 3 (records of 1 kB, where copying
is all there is) to 16 times less CPU, and with the sending 3 to 18.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

import loads
from andiron.columns import decode as decoding
from andiron.columns import encode as encoding
from andiron.columns import native, pack, walk
from andiron.columns.decode import decode
from andiron.columns.encode import encode
from andiron.columns.schema import arrow_schema
from andiron.records.batch import iterate
from andiron.records.builder import BatchBuilder
from andiron.records.record import records_of
from report import Report
from servers import Node, create_topic
from shapes import NOON, SHAPES, Shape

ANSWER_BYTES = 4 << 20  # of a fetch
BATCH_BYTES = 1 << 20
MILLION = 1e6
CPU_S = 0.2  # at least, of each figure


def main() -> None:
    arguments = parse()
    rounds, records = (1, 200_000) if arguments.quick else (3, 1_000_000)
    in_memory, beside = Report(other="plain"), Report(other="confluent")
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}: in memory", flush=True)
        for shape in SHAPES:
            measure_decode(shape, in_memory, beside)
            measure_encode(shape, in_memory, beside)
    if not arguments.memory:
        with_node(beside, rounds, records)
        print(beside.table())
    print(in_memory.table())
    for report in (in_memory, beside):
        path = report.write("columns")
    print(f"written to {path}")


# ── in memory ────────────────────────────────────────────────────────────────────────────────


def measure_decode(shape: Shape, in_memory: Report, beside: Report) -> None:
    count = ANSWER_BYTES // (shape.value_bytes + 40) // shape.batch_records * shape.batch_records
    raw = shape.answer(count)

    def by(walker: Callable[..., walk.Columns]) -> float:
        decoding._walk = walker
        return rate(lambda: decode(list(iterate(raw)), "orders", 0, headers=shape.headers).num_rows)

    plain = rate(lambda: plainly_decoded(raw, shape.headers).num_rows)
    for name, walker in (("native", native.walk), ("numpy", walk.walk)):
        if walker is not None:
            row = f"decode, {shape.name}, {name}"
            in_memory.add("andiron", row, by(walker), "M records/s", "higher")
            in_memory.add("plain", row, plain, "M records/s", "higher")
    decoding._walk = native.walk or walk.walk
    beside.add("andiron", f"decode alone, {shape.name}", by(decoding._walk), "M records/s", "higher")


def measure_encode(shape: Shape, in_memory: Report, beside: Report) -> None:
    count = max(shape.batch_records, 4000)
    (rows,) = shape.tables(count, count)
    size = min(BATCH_BYTES, shape.batch_records * (shape.value_bytes + 64))

    def by(packer: Callable[..., list[pack.PackedRows]]) -> float:
        encoding._pack = packer
        return rate(lambda: sum(each.records for each in encode(rows, codec=0, batch_bytes=size, now=NOON)))

    plain = rate(lambda: plainly_encoded(rows, size))
    for name, packer in (("native", native.pack), ("numpy", pack.pack)):
        if packer is not None:
            row = f"encode, {shape.name}, {name}"
            in_memory.add("andiron", row, by(packer), "M records/s", "higher")
            in_memory.add("plain", row, plain, "M records/s", "higher")
    encoding._pack = native.pack or pack.pack
    beside.add("andiron", f"encode alone, {shape.name}", by(encoding._pack), "M records/s", "higher")


def rate(once: Callable[[], int]) -> float:
    """Millions of records in a second of CPU."""
    once()
    done, started = 0, time.process_time()
    while time.process_time() - started < CPU_S:
        done += once()
    return done / (time.process_time() - started) / MILLION


def plainly_decoded(raw: bytes, headers: bool) -> pa.RecordBatch:
    """The columns by a loop over records."""
    keys, values, offsets, times, kinds, lists = ([] for _ in range(6))
    for batch in iterate(raw):
        kind = batch.timestamp_type
        for offset, timestamp, key, value, pairs in records_of(batch):
            keys.append(key)
            values.append(value)
            offsets.append(offset)
            times.append(timestamp * 1000)
            kinds.append(kind)
            lists.append(pairs or None)
    columns = [keys, values, ["orders"] * len(keys), [0] * len(keys), offsets, times, kinds, lists]
    schema = arrow_schema(headers)
    pairs = zip(columns[: len(schema)], schema, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(each, field.type) for each, field in pairs], schema=schema)


def plainly_encoded(rows: pa.RecordBatch, size: int) -> int:
    """The batches by a loop over a builder."""
    keys, values = (rows[name].to_pylist() for name in ("key", "value"))
    times = rows["timestamp"].cast(pa.int64()).to_pylist()
    lists = rows["headers"].to_pylist() if "headers" in rows.schema.names else [()] * len(keys)
    batches, batch = [], BatchBuilder()
    for key, value, at, headers in zip(keys, values, times, lists, strict=True):
        if batch.size + len(key) + len(value) + 64 > size:
            batches.append(batch.build())
            batch = BatchBuilder()
        pairs = [(header["key"], header["value"]) for header in headers]
        batch.append(at // 1000, key, value, pairs)
    batches.append(batch.build())
    return len(keys)


# ── with a node ──────────────────────────────────────────────────────────────────────────────


def with_node(report: Report, rounds: int, records: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="bench-columns-"))
    try:
        with Node(folder) as node:
            for number in range(rounds):
                for shape in SHAPES:
                    print(f"round {number + 1} of {rounds}: {shape.name}", flush=True)
                    there_and_back(node, shape, records * 100 // max(100, shape.value_bytes), number, report)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def there_and_back(node: Node, shape: Shape, records: int, number: int, report: Report) -> None:
    """Each client writes a topic of its own, and both read what confluent-kafka wrote."""
    subjects = ("andiron", "confluent") if number % 2 else ("confluent", "andiron")
    topics = {subject: f"{subject}-{SHAPES.index(shape)}-{number}" for subject in subjects}
    for way in ("produce", "consume"):
        for subject in subjects:
            if way == "produce":
                create_topic(node, topics[subject], retention_ms="-1")  # the records are old
            topic = topics[subject if way == "produce" else "confluent"]
            found = loads.run(
                "columns",
                subject=subject,
                way=way,
                port=node.port,
                topic=topic,
                shape=shape.name,
                records=records,
            )
            name = f"{way}, {shape.name}"
            done = found["records"] / MILLION
            report.add(subject, name, done / found["seconds"], "M records/s", "higher")
            report.add(subject, f"CPU, {name}", found["cpu"] / done, "s/M records", "lower")
            if subject == "confluent":
                alone = "encode" if way == "produce" else "decode"
                report.add(
                    subject, f"{alone} alone, {shape.name}", done / found["loop_cpu"], "M records/s", "higher"
                )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--memory", action="store_true", help="without the node")
    return parser.parse_args()


if __name__ == "__main__":
    main()
