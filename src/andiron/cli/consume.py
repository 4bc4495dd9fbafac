"""`andiron consume`: records of a topic to stdout.

    --from, --to ──▶ ranges.py: where to begin and end ──▶ client Reader ──▶ formats.py ──▶ stdout

Without a group: nothing is remembered between two calls, and nobody is disturbed.

Of transactions only what is committed, as `andiron.read_topic` and librdkafka do it and Kafka's console consumer does
not: what was aborted was taken back, and who sees it without being told has seen what is not so.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import click

from andiron.cli.failure import INTERRUPTED, Failure
from andiron.cli.formats import Render, TemplateError, renderer
from andiron.cli.options import bootstrap_option
from andiron.cli.output import remark
from andiron.cli.ranges import Bounds, Point, before_open_transactions, parse_point, positions
from andiron.cli.selections import show_partitions
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.reader import Reader
from andiron.model.errors import ErrorCode, Refused
from andiron.model.ids import TopicPartition
from andiron.records.record import Record

_FOREVER = -1


def as_point(context: click.Context, parameter: click.Parameter, text: str | None) -> Point | None:
    """A place in the log, as --from and --to name it."""
    if text is None:
        return None
    try:
        return parse_point(text, time.time_ns() // 1_000_000)
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


@click.command()
@click.argument("topic")
@click.option(
    "--partition",
    "-p",
    "numbers",
    type=click.IntRange(0),
    multiple=True,
    help="Only this one; may be given again.",
)
@click.option(
    "--from",
    "start",
    callback=as_point,
    default="earliest",
    show_default=True,
    metavar="WHERE",
    help="Where to begin; see above.",
)
@click.option(
    "--to",
    "end",
    callback=as_point,
    metavar="WHERE",
    help="Where to end, not included; the present end if not given.",
)
@click.option("--count", "-n", type=click.IntRange(0), help="End after this many records.")
@click.option("--follow/--no-follow", "-f", default=False, help="Go on with what is written later.")
@click.option(
    "--read-committed/--read-uncommitted",
    "committed",
    default=True,
    help="Leave out what was aborted and stop before what is still open (isolation.level), which is the default; "
    "or show that too.",
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, which `produce --json` takes.")
@click.option(
    "--format",
    "template",
    metavar="TEXT",
    help="How to print a record: %t topic, %p partition, %o offset, %T timestamp, %d date, %k key, "
    "%v value, %h headers, %% percent, \\n, \\t.",
)
@click.option("--keys", is_flag=True, help="The key and a tab before the value.")
@click.option("--headers", is_flag=True, help="The headers and a tab before that.")
@bootstrap_option
def consume(
    *,
    topic: str,
    numbers: tuple[int, ...],
    start: Point,
    end: Point | None,
    count: int | None,
    follow: bool,
    committed: bool,
    as_json: bool,
    template: str | None,
    keys: bool,
    headers: bool,
    bootstrap: str,
) -> None:
    """Read the records of TOPIC, by default from the earliest to the present end.

    \b
    WHERE is one of
      earliest, latest          the two ends of each partition
      500                       an offset
      -10                       ten records before the end of each partition
      2024-05-01T12:30          the first record of that time or later; also @1714566600000 (ms)
      '5m ago'                  likewise; s, m, h, d or w

    \b
    Examples:
      andiron consume orders
      andiron consume orders --from -5 --json
      andiron consume orders --read-uncommitted
      andiron consume orders --from '1h ago' --follow --format '%d %p:%o %k=%v\\n'
    """
    if as_json and (template is not None or keys or headers):
        raise click.UsageError("--json prints all there is; leave --format, --keys and --headers out")
    if template is not None and (keys or headers):
        raise click.UsageError("--format says where keys and headers go: %k and %h")
    if sys.stdout is None:
        raise Failure("stdout is closed; there is nowhere to print to")
    try:
        render = renderer(as_json=as_json, template=template, keys=keys, headers=headers)
    except TemplateError as error:
        raise click.BadParameter(str(error), param_hint="--format") from error
    try:
        with Client(bootstrap) as client:
            chosen = _partitions(client, topic, numbers)
            bounds = Bounds(Admin(client), chosen, committed=committed)
            places = positions(bounds, start, end, follow=follow)
            if held := before_open_transactions(bounds, places):
                remark(
                    f"a transaction is open in {show_partitions(held)}: from its first record on nothing is shown "
                    "before it ends, but with --read-uncommitted; "
                    f"`andiron transaction producers {topic}` tells whose it is"
                )
            with Reader(client, places, committed=committed) as reader:
                _print(reader, render, _FOREVER if count is None else count)
    except KeyboardInterrupt:
        raise click.exceptions.Exit(0 if follow else INTERRUPTED) from None


def _partitions(client: Client, topic: str, numbers: tuple[int, ...]) -> list[TopicPartition]:
    there = client.topic(topic).names()
    for number in numbers:
        if number >= len(there):
            raise Refused(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"{topic} has partitions 0 to {len(there) - 1}, not {number}",
            )
    return [there[number] for number in dict.fromkeys(numbers)] if numbers else there


def _print(reader: Reader, render: Render, left: int) -> None:
    """Print until the ends are reached or `left` records are out; -1 stands for no limit."""
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    while left and not reader.is_done:
        for partition, records in reader.poll():
            lines = []
            for record in _at_most(records, left):
                lines.append(render(partition, record))
            left -= len(lines) if left > 0 else 0
            write(b"".join(lines))
            if not left:
                break
        flush()


def _at_most(records: Iterator[Record], count: int) -> Iterator[Record]:
    if count < 0:
        yield from records
        return
    for record in records:
        yield record
        count -= 1
        if not count:
            return
