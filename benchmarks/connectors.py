"""What does it cost Spark to read and write the log by our connector, and by its own?

The same log, the same Spark, the same rows: format("andiron"), which is Python and Arrow, and format("kafka"), which
is Spark's own connector on the JVM (fetched through Maven; without it our column stands alone). Each runs in
a process of its own, in rounds that take turns; a row of the table is the median of the rounds.

    python benchmarks/connectors.py            three rounds of two and a half million rows
    python benchmarks/connectors.py --quick    one round of half a million

Rates are rows a second of a query that runs. CPU is of the whole of Spark (JVM and Python together), in seconds for a
million rows; the node's has a row of its own. Our stream sink is measured in both of its ways: exactly once, and at
least once, which is all that the other has.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import loads
import usage
from andiron.client.blocking import Client, ColumnProducer
from report import Report
from servers import Node, Server, create_topic, jars

PARTITIONS = 4
ROWS_A_PIECE = 50_000
NAMES = {
    "read_stream": "stream, topic to noop",
    "read_batch": "batch, topic to noop",
    "write_stream": "stream, files to topic",
    "write_batch": "batch, files to topic",
}


class Subject(NamedTuple):
    """A connector, and the way its stream sink delivers."""

    name: str
    form: str
    jars: str
    sink: dict[str, str]


def main() -> None:
    arguments = parse()
    rounds, rows = (1, 500_000) if arguments.quick else (3, 2_500_000)
    report = Report(other="stock")
    subjects = available()
    folder = Path(tempfile.mkdtemp(prefix="bench-connectors-"))
    node = Node(folder / "node", settings={"log.retention.bytes": "-1"})
    try:
        node.start()
        fill(node, "rows", rows)
        for number in range(rounds):
            for subject in subjects if number % 2 == 0 else subjects[::-1]:
                print(f"round {number + 1} of {rounds}: {subject.form} {subject.sink or ''}", flush=True)
                measure(node, subject, rows, folder, report)
    finally:
        node.kill()
        shutil.rmtree(folder, ignore_errors=True)
    print(report.table())
    print(f"written to {report.write('connectors')}")


def available() -> list[Subject]:
    """Ours in both ways, and the other where it can be had."""
    subjects = [
        Subject("andiron", "andiron", "", {}),
        Subject("andiron", "andiron", "", {"delivery.guarantee": "at_least_once"}),
    ]
    try:
        found = jars.connector_jars()
        subjects.append(Subject("stock", "kafka", ",".join(map(str, found.folder.glob("*.jar"))), {}))
    except jars.Missing as why:
        print(f"without Spark's own connector: {why}")
    return subjects


def fill(node: Server, topic: str, rows: int) -> None:
    """Records of about 130 bytes, in as many partitions as there are tasks twice over."""
    create_topic(node, topic, partitions=PARTITIONS)
    with Client(f"127.0.0.1:{node.port}") as client:
        producer = ColumnProducer(client)
        for first in range(0, rows, ROWS_A_PIECE):
            names = [str(number) for number in range(first, min(first + ROWS_A_PIECE, rows))]
            keys = pa.array(names, pa.string()).cast(pa.binary())
            values = pa.array([f"{name}{'x' * 120}" for name in names], pa.string()).cast(pa.binary())
            producer.send(topic, pa.RecordBatch.from_arrays([keys, values], ["key", "value"]))
        producer.flush()
        producer.close()


def measure(node: Node, subject: Subject, rows: int, folder: Path, report: Report) -> None:
    for way in NAMES:
        out = f"rows_{subject.form}_{way}"
        if way.startswith("write") and not exists(node, out):
            create_topic(node, out, partitions=PARTITIONS)
    before = usage.cpu_seconds(node.pid)
    place = {"port": node.port, "topic": "rows", "rows": rows, "folder": str(folder)}
    found = loads.run("spark", form=subject.form, jars=subject.jars, sink=subject.sink, **place)
    weaker = bool(subject.sink)
    for way, name in NAMES.items():
        if subject.name == "andiron" and way == "write_stream":
            name += ", at least once" if weaker else ", exactly once"
        elif weaker:
            continue
        names = [f"{name}, exactly once", f"{name}, at least once"] if both(subject, way) else [name]
        for each in names:
            report.add(subject.name, each, found[way], "rows/s", "higher")
            report.add(subject.name, f"{each}: CPU", found[f"{way}_cpu"], "s/M rows", "lower")
    if not weaker:
        report.add(subject.name, "a micro-batch of a few records", found["small_batches"], "ms", "lower")
        report.add(subject.name, "memory of Spark", found["memory_mb"], "MB", "lower")
        used = usage.cpu_seconds(node.pid) - before
        report.add(subject.name, "CPU of the node for all of this", used, "s", "lower")


def both(subject: Subject, way: str) -> bool:
    """The stock sink has one way to deliver, which is compared with both of ours."""
    return subject.name == "stock" and way == "write_stream"


def exists(node: Node, topic: str) -> bool:
    with Client(f"127.0.0.1:{node.port}") as client:
        return any(each.name == topic for each in client.topics())


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one short round")
    return parser.parse_args()


if __name__ == "__main__":
    main()
