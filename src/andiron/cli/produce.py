"""`andiron produce`: lines from stdin, records to a topic.

stdin ──▶ lines.py ──▶ a record a line (plain, with key, or JSON) ──▶ client Producer ──▶ summary on stderr
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import click

from andiron.cli.failures import Failure
from andiron.cli.json_records import Given, decode_record
from andiron.cli.lines import LineError, read_lines
from andiron.cli.options import as_pairs, bootstrap_option
from andiron.cli.output import human_bytes, plural, remark
from andiron.client.blocking.client import Client
from andiron.client.blocking.producer import Producer
from andiron.client.blocking.sender import Delivered
from andiron.client.settings import ProducerSettings
from andiron.model.ids import TopicPartition
from andiron.records.compression import NAMES
from andiron.records.record import Header

PAUSE_S = 0.02  # when no line comes for this long, what there is is sent
PARTITIONS_SHOWN = 12

ReadLine = Callable[[bytes], Given]


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
    read = decode_record if as_json else plain_reader(key_separator, null_value)
    common = tuple((name, value.encode()) for name, value in headers.items())
    settings = ProducerSettings(acks=acks, compression_type=compression)
    if sys.stdin is None:
        raise Failure("stdin is closed; there is nothing to write")
    if sys.stdin.isatty() and not quiet:
        remark("one record a line; Ctrl-D ends it")
    begun = time.monotonic()
    with Client(bootstrap) as client, Producer(client, settings) as producer:
        client.topic(topic, create=True)
        _send_lines(producer, topic, read, common, partition)
        producer.flush()
    if not quiet:
        remark(summary(topic, producer.delivered, time.monotonic() - begun))


def plain_reader(key_separator: str | None, null_value: str | None) -> ReadLine:
    """How a plain line is read."""
    separator = None if key_separator is None else key_separator.encode()
    null = None if null_value is None else null_value.encode()

    def read(line: bytes) -> Given:
        key, value = None, line
        if separator is not None:
            key, found, value = line.partition(separator)
            if not found:
                raise LineError(f"no key separator {key_separator!r} in {line[:40]!r}")
        return Given(key, None if value == null else value, (), None, None)

    return read


def summary(topic: str, delivered: dict[TopicPartition, Delivered], seconds: float) -> str:
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


def _send_lines(
    producer: Producer, topic: str, read: ReadLine, common: tuple[Header, ...], partition: int | None
) -> None:
    number = 0
    send = producer.send
    try:
        for lines in read_lines(sys.stdin.fileno(), PAUSE_S):
            if not lines:
                producer.flush()
            for line in lines:
                number += 1
                key, value, headers, own, timestamp = read(line)
                send(
                    topic,
                    value,
                    key=key,
                    headers=headers + common,
                    partition=partition if own is None else own,
                    timestamp=timestamp,
                )
    except LineError as error:
        producer.flush()
        raise Failure(
            f"line {number} of the input: {error}; the {number - 1} before it are written"
        ) from error
