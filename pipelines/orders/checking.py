"""Every output of the pipeline beside what the sample adds up to, record by record and to the cent.

    sample ──▶ columns of what must be there ─┐
                                              ├─▶ a line for each output: how much there is, and what is wrong
    topics, table, groups ──▶ what is there ──┘

Committed records only, as any consumer would read them. Nothing is left to sums that could cancel out: each
notification and each order's latest state is looked up by itself, and each dead letter has the bytes of a record
that was malformed.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import deltalake
import numpy as np
import pyarrow as pa
from sample import CURRENCIES, STATUSES, Events, Sample, Totals, Window, amounts, currencies

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.ids import TopicPartition
from andiron.spark.frames.dead_letters import origins

if TYPE_CHECKING:
    from job import Settings

NOTIFICATIONS = "notifications"
CHUNK = 10_000  # ticks


class Finding(NamedTuple):
    """One output: how much is in it, and what is wrong with it, if anything."""

    output: str
    account: str
    problem: str = ""

    def __str__(self) -> str:
        verdict = f"WRONG: {self.problem}" if self.problem else "right"
        return f"{self.output:<22} {verdict:<6} {self.account}"


def check(settings: Settings, sample: Sample) -> list[Finding]:
    """All outputs."""
    totals, events = sample.totals(), sample.events(0, sample.ticks)
    with Client(settings.bootstrap) as client:
        return [
            _check_windows("revenue table", _table_windows(settings), totals),
            _check_windows("revenue topic", _topic_windows(client, settings), totals),
            _check_latest(client, settings, sample, events),
            _check_notifications(client, settings, sample, events),
            _check_dead_letters(client, settings, sample, totals),
            *(_check_group(client, settings, reader) for reader in settings.readers),
        ]


# ── revenue ──────────────────────────────────────────────────────────────────────────


def _table_windows(settings: Settings) -> dict[tuple[int, str], Window]:
    rows = deltalake.DeltaTable(settings.revenue_table).to_pyarrow_table().to_pylist()
    return {
        (_milliseconds(row["window_start"]), row["currency"]): Window(
            row["records"], row["orders_paid"], row["revenue_cents"]
        )
        for row in rows
    }


def _topic_windows(client: Client, settings: Settings) -> dict[tuple[int, str], Window]:
    found = {}
    for rows in _read(client, settings.revenue_topic):
        for value in rows.column("value").to_pylist():
            told = json.loads(value)
            start = datetime.datetime.fromisoformat(told["window_start"])
            window = Window(told["records"], told["orders_paid"], told["revenue_cents"])
            found[_milliseconds(start), told["currency"]] = window
    return found


def _check_windows(output: str, found: dict[tuple[int, str], Window], totals: Totals) -> Finding:
    revenue = Counter[str]()
    for (_, currency), window in found.items():
        revenue[currency] += window.revenue_cents
    account = f"{len(found):,} windows, " + ", ".join(
        f"{_money(revenue[each])} {each}" for each in CURRENCIES
    )
    return Finding(output, account, _difference(found, totals.windows))


def _difference(found: dict[Any, Any], wanted: dict[Any, Any]) -> str:
    wrong = [key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key)]
    if not wrong:
        return ""
    first = min(wrong)
    return f"{len(wrong):,} differ, first {first}: {found.get(first)}, and should be {wanted.get(first)}"


# ── orders, one by one ───────────────────────────────────────────────────────────────


def _check_latest(client: Client, settings: Settings, sample: Sample, events: Events) -> Finding:
    """The newest record of each order has its last status and its amount."""
    wanted = np.full(sample.orders, -1, np.int64)
    good = events.status >= 0
    wanted[events.number[good]] = events.status[good]  # later ones overwrite
    found = np.full(sample.orders, -1, np.int64)
    cents = np.full(sample.orders, -1, np.int64)
    for number, status, amount, _ in _orders(client, settings.latest_topic, sample):
        found[number], cents[number] = status, amount
    numbers = np.arange(sample.orders)
    wrong = int(((found != wanted) | (cents != amounts(sample.seed, numbers))).sum())
    counts = ", ".join(f"{int((found == at).sum()):,} {name}" for at, name in enumerate(STATUSES))
    account = f"{sample.orders:,} orders, {_money(int(cents.sum()))} in all: {counts}"
    return Finding("latest", account, f"{wrong:,} orders differ" if wrong else "")


def _check_notifications(client: Client, settings: Settings, sample: Sample, events: Events) -> Finding:
    """Each event was told once, with its amount and currency."""
    seen = np.zeros((sample.orders, len(STATUSES)), np.int64)
    cents = np.zeros((sample.orders, len(STATUSES)), np.int64)
    known = currencies(sample.seed, np.arange(sample.orders))
    wrong_currencies = 0
    for number, status, amount, currency in _orders(client, settings.notifications_topic, sample):
        seen[number, status] += 1
        cents[number, status] += amount
        wrong_currencies += CURRENCIES[known[number]] != currency
    wanted = np.zeros_like(seen)
    good = events.status >= 0
    wanted[events.number[good], events.status[good]] = 1
    lost, doubled = int((seen < wanted).sum()), int((seen > wanted).sum())
    amiss = int((cents != wanted * amounts(sample.seed, np.arange(sample.orders))[:, None]).sum())
    wrong = lost or doubled or amiss or wrong_currencies
    problem = (
        f"{lost:,} lost, {doubled:,} doubled, {amiss:,} amounts and {wrong_currencies:,} currencies wrong"
    )
    paid = _money(int(cents[:, STATUSES.index("paid")].sum()))
    return Finding("notifications", f"{int(seen.sum()):,} events, {paid} paid", problem if wrong else "")


def _orders(client: Client, topic: str, sample: Sample) -> Iterator[tuple[int, int, int, str]]:
    """Number, status, amount and currency of each record, in the order of each partition."""
    prefix = len(sample.order_id(0)) - 7
    statuses = {name: at for at, name in enumerate(STATUSES)}
    for rows in _read(client, topic):
        for value in rows.column("value").to_pylist():
            told = json.loads(value)
            number = int(told["order_id"][prefix:])
            yield number, statuses[told["status"]], told["amount"], told["currency"]


# ── the rest ─────────────────────────────────────────────────────────────────────────


def _check_dead_letters(client: Client, settings: Settings, sample: Sample, totals: Totals) -> Finding:
    """Each malformed record is there once, byte for byte, and says where it came from."""
    wanted: Counter[bytes] = Counter()
    for first in range(0, sample.ticks, CHUNK):
        events = sample.events(first, first + CHUNK)
        rows = sample.records(first, first + CHUNK)
        wanted.update(rows.filter(pa.array(events.status < 0)).column("value").to_pylist())
    found: Counter[bytes] = Counter()
    places: set[tuple[str, int, int]] = set()
    for rows in _read(client, settings.dead_letters_topic, headers=True):
        found.update(rows.column("value").to_pylist())
        from_where = origins(rows, NOTIFICATIONS)
        places.update(
            zip(
                from_where.topics.to_pylist(),
                from_where.partitions.tolist(),
                from_where.offsets.tolist(),
                strict=True,
            )
        )
    problem = ""
    if found != wanted:
        problem = f"{(wanted - found).total():,} lost, {(found - wanted).total():,} too many"
    elif len(places) != totals.malformed:
        problem = f"they name {len(places):,} places"
    return Finding("dead letters", f"{found.total():,} of {totals.malformed:,} malformed records", problem)


def _check_group(client: Client, settings: Settings, reader: str) -> Finding:
    """The group of a reader, as every lag tool sees it."""
    partitions = [
        TopicPartition(settings.topic, number)
        for number in range(len(client.topic(settings.topic).partitions))
    ]
    ends = Admin(client).list_offsets(dict.fromkeys(partitions, LATEST))
    committed = GroupAdmin(client).committed(settings.group(reader))
    behind = sum(
        ends[each].offset - (committed[each].offset if each in committed else 0) for each in partitions
    )
    return Finding(
        f"group of {reader}", f"{settings.group(reader)}, lag {behind:,}", "it is behind" if behind else ""
    )


def _read(client: Client, topic: str, *, headers: bool = False) -> Iterator[pa.RecordBatch]:
    """All committed records of a topic, partition by partition."""
    admin = Admin(client)
    partitions = [TopicPartition(topic, number) for number in range(len(client.topic(topic).partitions))]
    starts = admin.list_offsets(dict.fromkeys(partitions, EARLIEST))
    ends = admin.list_offsets(dict.fromkeys(partitions, LATEST))
    for each in partitions:
        with ColumnReader(
            client, each, starts[each].offset, ends[each].offset, headers=headers, committed=True
        ) as reader:
            yield from reader


def _milliseconds(moment: datetime.datetime) -> int:
    return round(moment.timestamp() * 1_000)


def _money(cents: int) -> str:
    return f"{cents // 100:,}.{cents % 100:02}"
