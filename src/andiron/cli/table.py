"""`andiron table`: the commits of a Parquet or Delta table with their offsets, and a check against the log."""

from __future__ import annotations

import click

from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import columns, plural, print_json, remark
from andiron.client.blocking.client import Client
from andiron.spark.tables.table import Table
from andiron.spark.tables.table_commit import TableCommit
from andiron.spark.tables.table_format import open_table
from andiron.spark.tables.verdict import Verdict
from andiron.spark.tables.verification import WAIT_S
from andiron.spark.tables.verification import verify as compare

UNJUDGED = 3


@click.group()
def table() -> None:
    """Tables that Spark writes from topics, in Parquet or Delta: each commit knows its offsets.

    A table is a chain of batches; each has a range of offsets of every partition, and begins where the one before it
    ends. docs/tables.md says how they are written.
    """


@table.command()
@click.argument("path")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="So many of the newest batches."
)
@json_option
def show(path: str, limit: int, as_json: bool) -> None:
    """Show the batches of a table: their rows, and the offsets they are made of.

    \b
    Examples:
      andiron table show tables/orders
      andiron table show tables/orders --json | jq '.commits[-1].ranges'
    """
    opened = open_table(path)
    commits = list(opened.commits())
    if as_json:
        print_json({"kind": opened.kind, "commits": [each.as_json() for each in commits[-limit:]]})
        return
    if not commits:
        remark(f"{path} has no batches")
        return
    click.echo(_about(opened, commits))
    rows = [(each.batch, each.rows, each.offsets, _told(each)) for each in commits[-limit:]]
    click.echo(columns(("BATCH", "ROWS", "OFFSETS", "RANGES"), rows))
    if len(commits) > limit:
        remark(
            f"{plural(len(commits) - limit, 'older batch', 'older batches')} not shown; --limit shows more"
        )


@table.command()
@click.argument("path")
@click.option(
    "--uncommitted",
    is_flag=True,
    help="The query reads uncommitted records too (isolation.level=read_uncommitted).",
)
@click.option(
    "--reader-group",
    metavar="GROUP",
    default="",
    help="The group of the query that writes the dead letters, where the table does not name it.",
)
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0),
    default=WAIT_S,
    show_default=True,
    help="How long to wait for what is not decided yet.",
)
@json_option
@bootstrap_option
def verify(
    *, path: str, uncommitted: bool, reader_group: str, wait: float, as_json: bool, bootstrap: str
) -> None:
    """Prove that a table and its topics agree.

    Every record is in the table once, or a dead letter once.

    Ranges must join on without a gap. Each is then read from the log and compared with the rows of the table.
    Tables of aggregates are compared by the sum of their count column. A table may be written meanwhile: it is
    compared as it was when this began. Exit code 1 if anything differs; 3 if nothing does, but it is not decided yet
    what becomes of some records, since transactions are open, or whoever writes the dead letters is behind.

    \b
    Examples:
      andiron table verify tables/orders
      andiron table verify tables/revenue -b kafka-1:9092 --json | jq .findings
    """
    with Client(bootstrap) as client:
        verdict = compare(
            open_table(path), client, committed=not uncommitted, reader_group=reader_group, wait_s=wait
        )
    if as_json:
        print_json(verdict.as_json())
    else:
        _print(verdict)
    if not verdict.agrees:
        raise click.exceptions.Exit(1)
    if verdict.unjudged:
        raise click.exceptions.Exit(UNJUDGED)


def _about(opened: Table, commits: list[TableCommit]) -> str:
    newest = commits[-1]
    promise = newest.promise
    holds = {
        "every": "every record is a row",
        "some": "some records are rows",
        "count": f"{promise.count!r} counts the records",
        "other": "rows of its own",
    }[promise.holds]
    dead = f", the others are in {promise.dead_letters.topic}" if promise.dead_letters else ""
    return f"{opened.kind} table, {newest.mode}: {holds}{dead}; written by query {newest.query}"


def _told(commit: TableCommit) -> str:
    moved = [each for each in commit.ranges if each.size]
    return " ".join(f"{each.partition}[{each.start},{each.end})" for each in moved) or "-"


def _print(verdict: Verdict) -> None:
    for finding in verdict.findings:
        click.echo(f"{finding.what}: {finding}")
    for text in verdict.remarks:
        remark(text)
    numbers = {
        "batch": verdict.batches,
        "record": verdict.records,
        "row": verdict.rows,
        "dead letter": verdict.dead_letters,
    }
    told = ", ".join(
        plural(number, noun, "batches" if noun == "batch" else "") for noun, number in numbers.items()
    )
    click.echo(f"{told}: {_outcome(verdict)}")


def _outcome(verdict: Verdict) -> str:
    if not verdict.agrees:
        return "table and log DIFFER"
    if verdict.unjudged:
        return "table and log agree as far as it is decided"
    return "table and log agree"
