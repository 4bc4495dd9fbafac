"""`andiron produce`: lines from stdin, records to a topic.

stdin ──▶ lines.py ──▶ line_writer.py: a record a line (plain, with key, or JSON) ──▶ summary on stderr
                            └── produce_progress.py looks on, and says what is waited for
"""

from __future__ import annotations

import sys
import time
from contextlib import closing

import click

from andiron.cli.failure import Failure
from andiron.cli.json_records import decode_record
from andiron.cli.line_writer import LineWriter, Plain, ReadLine
from andiron.cli.lines import LineError, read_blocks
from andiron.cli.options import as_pairs, bootstrap_option
from andiron.cli.output import human_bytes, plural, remark
from andiron.cli.produce_progress import Progress
from andiron.cli.screen import Screen
from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import DeliveryTotals
from andiron.client.settings import ProducerSettings
from andiron.model.ids import TopicPartition
from andiron.records.compression import NAMES

PAUSE_S = 0.02  # when no line comes for this long, what there is is sent
PARTITIONS_SHOWN = 12


@click.command()
@click.argument("topic")
@click.option("--key-separator", metavar="TEXT", help="Each line is a key, this, and a value.")
@click.option(
    "--header",
    "headers",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A header for every record; may be given again.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Each line is JSON: key, value, headers, partition, timestamp."
)
@click.option(
    "--null-value",
    metavar="TEXT",
    help="A value that stands for null: a tombstone, by which compaction deletes a key.",
)
@click.option("--partition", type=click.IntRange(0), help="The partition for records that do not name one.")
@click.option(
    "--compression",
    type=click.Choice(NAMES),
    default="none",
    show_default=True,
    help="How batches are packed.",
)
@click.option(
    "--acks",
    type=click.Choice(["0", "1", "all"]),
    default="all",
    show_default=True,
    help="Who must have a record before it counts: nobody, the leader, all replicas in sync.",
)
@click.option("--quiet", is_flag=True, help="No summary.")
@bootstrap_option
def produce(
    *,
    topic: str,
    key_separator: str | None,
    headers: dict[str, str],
    as_json: bool,
    null_value: str | None,
    partition: int | None,
    compression: str,
    acks: str,
    quiet: bool,
    bootstrap: str,
) -> None:
    """Write records to TOPIC, one for each line of stdin.

    Records with the same key go to the same partition, and so stay in order. The summary on stderr tells
    which offsets they got; with exit code 0 all of them are written.

    \b
    Examples:
      andiron produce orders < orders.txt
      echo 'customer-42:a cup of tea' | andiron produce orders --key-separator :
      echo '{"key": "42", "value": {"item": "tea"}}' | andiron produce orders --json --compression zstd
    """
    if as_json and (key_separator is not None or null_value is not None):
        raise click.UsageError("--json lines have their keys and nulls inside; leave the other options out")
    if key_separator == "":
        raise click.UsageError("--key-separator is empty")
    plain = Plain(*(None if text is None else text.encode() for text in (key_separator, null_value)))
    lines: Plain | ReadLine = decode_record if as_json else plain
    common = tuple((name, value.encode()) for name, value in headers.items())
    settings = ProducerSettings(acks=acks, compression_type=compression)
    if sys.stdin is None:
        raise Failure("stdin is closed; there is nothing to write")
    if sys.stdin.isatty() and not quiet:
        remark("one record a line; Ctrl-D ends it")
    begun = time.monotonic()
    with (
        Client(bootstrap) as client,
        closing(LineWriter(client, settings, topic, lines, common, partition)) as writer,
    ):
        try:
            with Progress(Screen(quiet=quiet), writer, live=sys.stderr.isatty() and not quiet) as progress:
                client.on_retry = progress.troubled
                client.topic(topic, create=True)
                _write_all(writer)
        except KeyboardInterrupt:
            if not quiet:
                remark(f"interrupted: {summary(topic, writer.delivered, time.monotonic() - begun)}")
                remark("what was under way and not acknowledged may be written too")
            raise
        if not quiet:
            remark(summary(topic, writer.delivered, time.monotonic() - begun))


def _write_all(writer: LineWriter) -> None:
    try:
        for block in read_blocks(sys.stdin.fileno(), PAUSE_S):
            if block:
                writer.write(block)
            else:
                writer.flush()
    except LineError as error:
        writer.flush()
        raise Failure(
            f"line {writer.lines + 1} of the input: {error}; the {writer.lines} before it are written"
        ) from error
    writer.flush()


def summary(topic: str, delivered: dict[TopicPartition, DeliveryTotals], seconds: float) -> str:
    """What was written, in a line or a few."""
    records = sum(each.records for each in delivered.values())
    size = sum(each.bytes for each in delivered.values())
    lines = [f"{plural(records, 'record')} ({human_bytes(size)}) to {topic} in {seconds:.1f} s"]
    told = sorted((partition.partition, each) for partition, each in delivered.items() if each.first >= 0)
    for number, each in told[:PARTITIONS_SHOWN]:
        lines.append(f"  partition {number}: offsets {each.first} to {each.next - 1}")
    if len(told) > PARTITIONS_SHOWN:
        lines.append(f"  and {len(told) - PARTITIONS_SHOWN} partitions more")
    return "\n".join(lines)
