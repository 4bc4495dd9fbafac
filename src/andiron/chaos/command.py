"""`andiron chaos`: from options to a cluster that is harmed, a table, a page and a ledger.

    cells ─▶ ChaosCluster ─▶ an Experiment each ─▶ scaling of a group ─▶ table · report.html · report.json ─▶ 0 or 1

Ctrl-C at any time ends every process that was started, and what was measured until then is not written.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Sequence
from functools import partial
from types import FrameType

import click

from andiron.chaos import cells as cells_module
from andiron.chaos.account import Latency
from andiron.chaos.cells import QUICK, Cell
from andiron.chaos.cluster import SETTINGS, ChaosCluster
from andiron.chaos.experiment import CUT_S, Experiment, Outcome
from andiron.chaos.faults import FAULTS, Fault
from andiron.chaos.ledger import ledger
from andiron.chaos.load import RATE, SIZE, WRITERS
from andiron.chaos.rebalance import KINDS, ScaledGroup, Scaling, is_possible
from andiron.chaos.report import render
from andiron.cli.failure import Failure
from andiron.cli.output import columns
from andiron.cli.screen import Screen

FOLLOWER_FAULTS = ("slow", "pause", "cut", "kill")
OWN_SETTINGS = {"replica.fetch.max.bytes": "32768"}  # so that a slow disk is slow in small pieces
QUICK_S, SCALING_S = 2.0, 2.0


@click.command()
@click.option(
    "--cells",
    "wanted",
    multiple=True,
    metavar="CELL",
    help="Which cells: such as acks=1 or acks=all,min=2,fsync=on; may be given again.  "
    "[default: acks 1 and all, each with min 1 and 2, each with fsync off and on]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1.0, 120.0),
    default=4.0,
    show_default=True,
    help="How long each part of a cell lasts.",
)
@click.option(
    "--fault",
    type=click.Choice(FOLLOWER_FAULTS),
    default="slow",
    show_default=True,
    help="What is done to the follower: its disk slowed, SIGSTOP, cut off from the other nodes, kill -9.",
)
@click.option(
    "--report",
    default="chaos.html",
    show_default=True,
    metavar="PATH",
    help="Where the page goes; the ledger goes beside it, as JSON.",
)
@click.option("--quick", is_flag=True, help="One cell, in half a minute: acks=all, min 2, no fsync.")
@click.option("--keep", is_flag=True, help="Keep the data and the logs of the nodes.")
def chaos(
    *, wanted: tuple[str, ...], seconds: float, fault: str, report: str, quick: bool, keep: bool
) -> None:
    """Harm a cluster under load, and account for every record that was acknowledged.

    Three nodes are started on this machine, as processes of their own. For each cell of acks,
    min.insync.replicas and fsync: load; one follower is harmed and leaves the ISR; the leader is cut off and a
    second later killed with kill -9; all is mended; everything is read back. Then a group is scaled from one
    member to three.

    The exit code is 1 if acks=all lost a record, and also if acks=1 lost none: then nothing was shown.

    \b
    Examples:
      andiron chaos --quick
      andiron chaos --fault pause --cells acks=1,min=2 --cells acks=all,min=2
    """
    beside = _ledger_path(report)
    signal.signal(signal.SIGTERM, _interrupt)
    chosen = cells_module.choose(wanted) if wanted or not quick else [QUICK]
    if quick:
        seconds = min(seconds, QUICK_S)
    folder = tempfile.mkdtemp(prefix="andiron-chaos-")
    screen = Screen()
    try:
        outcomes, scalings, notes = _run(chosen, FAULTS[fault], seconds, folder, screen, scale=not quick)
    finally:
        screen.clear()
        if keep:
            screen.say(f"data and logs are kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    _write(report, render(outcomes, scalings, notes))
    _write(beside, json.dumps(ledger(outcomes, scalings, notes)) + "\n")
    _print(outcomes, scalings, notes)
    click.echo(f"\nthe report is {report}, the ledger {beside}")
    raise click.exceptions.Exit(0 if all(each.verdict.good for each in outcomes) else 1)


def _ledger_path(report: str) -> str:
    """Where the ledger goes; what would keep either file from being written is told now, and not in five minutes."""
    stem, kind = os.path.splitext(report)
    folder = os.path.dirname(report) or "."
    if kind == ".json":
        raise Failure(f"{report} is where the ledger would go; name the page, such as {stem}.html")
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise Failure(f"{folder} is no folder that can be written to; choose another --report")
    return stem + ".json"


def _run(
    chosen: Sequence[Cell], fault: Fault, seconds: float, folder: str, screen: Screen, *, scale: bool
) -> tuple[list[Outcome], list[Scaling], list[str]]:
    outcomes: list[Outcome] = []
    scalings: list[Scaling] = []
    screen.status("three nodes are started")
    with ChaosCluster(folder, OWN_SETTINGS) as cluster:
        for number, cell in enumerate(chosen, 1):
            say = partial(_say, screen, f"cell {number} of {len(chosen)}, {cell.name}")
            outcome = Experiment(cluster, fault, seconds, say).run(cell)
            screen.say(f"{cell.name}: {outcome.verdict.text}")
            outcomes.append(outcome)
        for kind in KINDS if scale and is_possible() else ():
            screen.status(f"a group is scaled from one member to three, {kind}")
            scalings.append(ScaledGroup(cluster.bootstrap, kind).run(SCALING_S))
    return outcomes, scalings, _notes(fault, scale)


def _say(screen: Screen, head: str, text: str) -> None:
    screen.status(f"{head}: {text}")


def _notes(fault: Fault, scale: bool) -> list[str]:
    """What a reader of the figures has to know."""
    notes = [
        f"Three nodes on one machine, each broker and voter; {WRITERS} writers, each {RATE:.0f} records of {SIZE} B a "
        "second, whether they are taken or not; times count from when a record was due.",
        f"The follower: {fault.told}. It is harmed until after the leader was killed.",
        f"The leader's wires are cut for {CUT_S:.0f} s before kill -9, in every cell, to see what it alone has.",
        "Settings other than Kafka's defaults: "
        + ", ".join(f"{k}={v}" for k, v in {**SETTINGS, **OWN_SETTINGS}.items()),
        "All nodes share one disk and the page cache of one machine: kill -9 loses no page that was written, so a "
        "power cut, which fsync is about, is not part of this.",
    ]
    if fault.name != "slow":
        notes.append(
            "A follower harmed so does not vote either: with the leader dead there is no majority of three voters, "
            "and nobody is elected until it is mended."
        )
    if not scale:
        notes.append("Left out, since --quick was given: the scaling of a group.")
    elif not is_possible():
        notes.append(
            "Left out: the scaling of a group, which needs confluent-kafka (pip install confluent-kafka); our own "
            "client reads without groups."
        )
    return notes


def _print(outcomes: Sequence[Outcome], scalings: Sequence[Scaling], notes: Sequence[str]) -> None:
    head = (
        "CELL",
        "ACKED",
        "LOST",
        "TWICE",
        "REORDERED",
        "BEFORE",
        "HARMED",
        "AFTER",
        "ISR SHRANK",
        "UNAVAILABLE",
    )
    click.echo("")
    click.echo(columns(head, [_row(each) for each in outcomes]))
    click.echo("p50/p99 in ms; the ISR shrank so long after the follower was harmed\n")
    for each in outcomes:
        click.echo(f"{'  ' if each.verdict.good else '! '}{each.cell.name}: {each.verdict.text}")
    if scalings:
        click.echo("")
        rows = [
            (each.kind, f"{each.settled:,.0f}", f"{max(each.partitions.values()):,.0f}", len(each.moved))
            for each in scalings
        ]
        click.echo(columns(("GROUP 1 TO 3", "SETTLED MS", "LONGEST PAUSE MS", "PARTITIONS MOVED"), rows))
    for note in notes:
        if note.startswith("Left out"):
            click.echo(f"\n{note}")


def _row(outcome: Outcome) -> tuple[object, ...]:
    account, marks = outcome.account, outcome.marks
    shrank = "no" if marks.out_of_isr is None else f"{marks.out_of_isr - marks.harmed:.1f} s"
    silent = f"{outcome.unavailable.seconds:.1f} s" if outcome.unavailable else "0 s"
    times = [_quantiles(each) for each in (outcome.before, outcome.during, outcome.after)]
    wrong = len(account.lost), len(account.duplicated), len(account.reordered)
    return (outcome.cell.name, account.acked, *wrong, *times, shrank, silent)


def _quantiles(found: Latency | None) -> str:
    return "-" if found is None else f"{found.p50:,.0f}/{found.p99:,.0f}"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
