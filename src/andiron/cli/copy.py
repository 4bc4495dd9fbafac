"""`andiron copy`: topics, records and groups of one cluster to another, over the network.

    plan ──(--dry-run ends here)──▶ prepare ──▶ copy, following or to the end ──▶ groups ──▶ proof ──▶ summary

The work is andiron/copying's; here is what is asked for, what is shown meanwhile, and how it ends.
"""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from andiron.cli.copy_report import print_end, print_plan
from andiron.cli.failure import INTERRUPTED, Failure
from andiron.cli.options import json_option
from andiron.cli.output import human_bytes, plural, remark
from andiron.cli.screen import Screen
from andiron.client.blocking.client import Client
from andiron.client.settings import ClientSettings
from andiron.copying.cluster_side import SOURCE, TARGET, Side, check_distinct
from andiron.copying.copier import Copier
from andiron.copying.copy_options import CopyOptions
from andiron.copying.copy_start import CopyStart
from andiron.copying.groups import GroupReport, Groups
from andiron.copying.plan import POLICY
from andiron.copying.proof import Proof, Prover

GROUPS_S = 5.0  # between two looks at the groups of the source
SHOWN_S = 0.5
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?(?:/s)?", re.IGNORECASE)


def as_rate(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """Bytes a second: 500K, 20MiB, 1G."""
    if text is None:
        return None
    found = _SIZE.fullmatch(text.strip())
    rate = float(found[1]) * _UNITS[found[2].upper()] if found else 0.0
    if rate <= 0:
        raise click.BadParameter(
            f"{text!r} is no rate such as 500KiB or 20MiB (a second)", context, parameter
        )
    return rate


@click.command()
@click.argument("topics", nargs=-1, metavar="[TOPIC]...")
@click.option("--from", "source", required=True, metavar="HOST:PORT[,…]", help="The cluster to copy from.")
@click.option("--to", "target", required=True, metavar="HOST:PORT[,…]", help="The cluster to copy to.")
@click.option(
    "--exclude", multiple=True, metavar="TOPIC", help="Not this one; a pattern too; may be given again."
)
@click.option(
    "--follow", "-f", is_flag=True, help="Go on with what is written later, until Ctrl-C or SIGTERM."
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option(
    "--groups", "groups", multiple=True, metavar="GROUP", help="Only groups like this; may be given again."
)
@click.option("--no-groups", is_flag=True, help="Leave committed offsets alone.")
@click.option(
    "--verify/--no-verify",
    default=None,
    help="Read both sides at the end and compare; done unless one follows.",
)
@click.option(
    "--read-uncommitted", is_flag=True, help="Also records of transactions that are open or aborted."
)
@click.option(
    "--shift-offsets", is_flag=True, help="Begin at 0 where the source begins later, and translate groups."
)
@click.option(
    "--accept-loss", is_flag=True, help="Go on behind records that are gone before they are copied."
)
@click.option("--replication-factor", type=click.IntRange(1), help="Of new topics; the source's by default.")
@click.option("--rate", callback=as_rate, metavar="BYTES", help="At most so much a second, such as 20MiB.")
@json_option
def copy(
    *,
    topics: tuple[str, ...],
    source: str,
    target: str,
    exclude: tuple[str, ...],
    follow: bool,
    dry_run: bool,
    groups: tuple[str, ...],
    no_groups: bool,
    verify: bool | None,
    read_uncommitted: bool,
    shift_offsets: bool,
    accept_loss: bool,
    replication_factor: int | None,
    rate: float | None,
    as_json: bool,
) -> None:
    """Copy topics, records and groups from one cluster to another.

    Either may be Kafka, Andiron, or anything else that speaks Kafka's protocol.

    TOPIC is a name or a pattern ('orders*'); without one all topics are copied but internal ones. Topics are made with
    their partitions and settings. Records keep their keys, values, headers, timestamps, compression and order, and
    their offsets as far as a producer can keep them; groups' committed offsets are translated. Whatever ends a copy,
    the same command goes on with it and writes nothing twice. At the end both sides are read and compared.

    \b
    Examples:
      andiron copy --from kafka:9092 --to localhost:9092 --dry-run
      andiron copy --from kafka:9092 --to localhost:9092 'orders*' --exclude '*-test'
      andiron copy --from localhost:9092 --to kafka:9092 --follow --rate 20MiB
    """
    if no_groups and groups:
        raise click.UsageError("--no-groups and --groups exclude each other")
    screen = Screen()
    committed = not read_uncommitted
    wishes = CopyOptions(
        topics, exclude, committed, not shift_offsets, follow, accept_loss, replication_factor, rate
    )
    settings = ClientSettings(client_id="andiron-copy")
    with Client(source, settings) as reading, Client(target, settings) as writing, stopping() as stop:
        sides = Side(SOURCE, reading, "--from"), Side(TARGET, writing, "--to")
        source_cluster = sides[0].reach()
        check_distinct(source_cluster, sides[1].reach())
        opening = CopyStart(*sides, source_cluster, wishes, tell=screen.say)
        plans = opening.plan()
        if not plans:
            raise Failure(
                "the source has no topics to copy; `andiron topic list --bootstrap` shows what there is"
            )
        grouping = Groups(
            *sides, groups or ("*",), opening.state.groups, opening.note_group, committed=committed
        )
        if dry_run:
            print_plan(plans, opening, [] if no_groups else grouping.names(), as_json=as_json)
            if any(plan.refusal for plan in plans):
                raise click.exceptions.Exit(1)
            return
        opening.prepare()
        begun = time.monotonic()
        looking = CopyWatch(screen, None if no_groups else grouping)
        copier = Copier(
            *sides,
            opening,
            stopping=stop,
            tell=screen.say,
            between_rounds=lambda: looking.look(copier),
        )
        if follow:
            screen.say(f"following {plural(len(plans), 'topic')}; Ctrl-C stops it")
        copier.run()
        looking.sync(copier)
        screen.clear()
        seconds = time.monotonic() - begun
        unfinished = stop() and not follow
        wanted = (not follow if verify is None else verify) and not unfinished
        proofs = _proofs(Prover(*sides, committed=committed), copier, opening, screen) if wanted else []
        opening.close()
        print_end(copier, looking.reports, proofs, seconds, as_json=as_json, proven=wanted)
    if unfinished:
        remark("stopped before the end; the same command goes on from here")
        raise click.exceptions.Exit(INTERRUPTED)
    if copier.set_aside or not all(each.holds for each in proofs):
        raise click.exceptions.Exit(1)


class CopyWatch:
    """Shows the progress of a copy, and copies groups' offsets, both now and then."""

    def __init__(
        self, screen: Screen, groups: Groups | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.reports: list[GroupReport] = []
        self._screen, self._groups, self._clock = screen, groups, clock
        self._begun = self._synced_at = clock()
        self._shown_at = 0.0
        self._said: set[str] = set()

    def look(self, copier: Copier) -> None:
        """After a round: show the progress, and copy groups' offsets if it is time."""
        now = self._clock()
        if sys.stderr.isatty() and now - self._shown_at >= SHOWN_S:
            self._shown_at = now
            pace = human_bytes(int(copier.bytes / max(now - self._begun, 0.001)))
            self._screen.status(
                f"{plural(copier.records, 'record')} ({human_bytes(copier.bytes)}) copied · {pace}/s"
            )
        if now - self._synced_at >= GROUPS_S:
            self._synced_at = now
            self.sync(copier)

    def sync(self, copier: Copier) -> None:
        """Bring the groups to where they are on the source; those that are left alone are told once."""
        if self._groups is None:
            return
        there = {each: copy for each, copy in copier.copies.items() if not copier.is_set_aside(each)}
        self.reports = self._groups.sync(there)
        for each in self.reports:
            if each.left_alone and each.group not in self._said:
                self._said.add(each.group)
                self._screen.say(f"group {each.group} is left alone: {each.left_alone}")


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C or SIGTERM has asked to end in order; said a second time, it ends at once."""
    asked: list[int] = []

    def ask(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _proofs(prover: Prover, copier: Copier, opening: CopyStart, screen: Screen) -> list[Proof]:
    found = []
    for partition, each in sorted(copier.copies.items()):
        if not copier.is_set_aside(partition):
            screen.status(f"comparing {partition}") if sys.stderr.isatty() else None
            compacted = "compact" in opening.sources[partition.topic].value(POLICY)
            found.append(prover.prove(each, compacted=compacted))
    screen.clear()
    return found
