"""Sample orders: as many as you like, the same ones for the same seed, with totals known to the cent.

An order is created, then paid and shipped, or cancelled, or left as it is. Every one of these changes is an
event in the topic, keyed by the order's id, so that the events of an order stay in order:

    tick      0        1        2        3   …
    order 0   created           paid              shipped
    order 1            created                    cancelled
    order 2                     created  paid …
              ▲ a tick is a moment in which one order is created; beside it, now and then, a malformed record

Everything is a function of (seed, number of the order): no state, no clock, no dice. So any stretch of ticks can
be made by itself, and what all outputs must add up to is counted from the same columns.

Amounts are whole cents. Columns, not objects: a million orders are made in a few seconds.

Read next: feed.py, which writes them to the log; job.py, which reads them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]

CREATED, PAID, SHIPPED, CANCELLED = range(4)
STATUSES = ("created", "paid", "shipped", "cancelled")
CURRENCIES = ("EUR", "USD", "GBP")
CUSTOMERS = 500
LINES_MAX = 3  # of an order
REACH = 128  # ticks from an order's creation to its last event, at most
MINUTE_MS = 60_000

# Out of a hundred orders; what is left stays as it was created.
_SHIPPED, _PAID, _CANCELLED = 72, 86, 96
_NEVER = np.int64(1) << 62

FIRST_NAMES = ("Ada", "Basil", "Chitra", "Dmitri", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jun")
LAST_NAMES = ("Abbot", "Brandt", "Castro", "Dahl", "Eklund", "Fontaine", "Grieg", "Haddad", "Ito", "Jansen")
CHANNELS = ("mail", "app", "text")
PRODUCTS = (
    ("tea", 450), ("teapot", 2799), ("kettle", 3995), ("cup", 899), ("saucer", 549), ("honey", 725),
    ("lemon", 60), ("biscuits", 379), ("strainer", 1249), ("tray", 1999), ("spoon", 325), ("sugar", 185),
)  # fmt: skip


class Customer(NamedTuple):
    """One of the few hundred who order."""

    customer: str
    name: str
    channel: str


def customers() -> list[Customer]:
    """All of them: the table by which notifications are enriched."""
    return [
        Customer(
            f"c-{number:04}",
            f"{FIRST_NAMES[number % 10]} {LAST_NAMES[number // 10 % 10]}",
            CHANNELS[number % 3],
        )
        for number in range(CUSTOMERS)
    ]


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """Which orders: their seed, how many, from when on, how close together, and how many records are malformed."""

    seed: int = 1
    orders: int = 1_000
    start_ms: int = 1_767_225_600_000  # 2026-01-01T00:00Z
    every_ms: float = 50  # the time between two orders
    malformed: float = 0.01  # malformed records for each order

    @property
    def ticks(self) -> int:
        """How many there are until the last event of the last order."""
        return self.orders + REACH

    def order_id(self, number: int) -> str:
        """As it stands in the key of its events."""
        return f"{self.seed:06x}-{number:07}"

    def time_ms(self, ticks: Ints) -> Ints:
        """When these ticks were."""
        return self.start_ms + (ticks * self.every_ms).astype(np.int64)

    def records(self, first: int, end: int) -> pa.RecordBatch:
        """What is written in the ticks from `first` up to `end`: key and value."""
        return _render(self, self.events(first, end))

    def chunks(self, orders: int = 10_000) -> Iterator[pa.RecordBatch]:
        """All records, a number of ticks at a time."""
        for first in range(0, self.ticks, orders):
            yield self.records(first, min(first + orders, self.ticks))

    def events(self, first: int, end: int) -> Events:
        """The events of these ticks in order, malformed records among them."""
        numbers = np.arange(max(0, first - REACH), min(end, self.orders), dtype=np.int64)
        moments = _moments(self.seed, numbers)
        number = np.tile(numbers, len(STATUSES))
        status = np.repeat(np.arange(len(STATUSES), dtype=np.int64), len(numbers))
        tick = moments.reshape(-1)
        inside = (tick >= first) & (tick < end)
        bad = self._malformed(first, min(end, self.orders))
        number = np.concatenate([number[inside], bad])
        status = np.concatenate([status[inside], np.full(len(bad), -1, np.int64)])
        tick = np.concatenate([tick[inside], bad])
        order = np.lexsort((status, number, tick))
        return Events(number[order], status[order], tick[order])

    def totals(self, window_ms: int = MINUTE_MS) -> Totals:
        """What every output must add up to."""
        return Totals.of(self, window_ms)

    def _malformed(self, first: int, end: int) -> Ints:
        ticks = np.arange(first, max(first, end), dtype=np.int64)
        return ticks[_draw(self.seed, ticks, 90, 1_000_000) < round(self.malformed * 1_000_000)]


class Events(NamedTuple):
    """Events as columns; a status of -1 is a malformed record."""

    number: Ints
    status: Ints
    tick: Ints


class Window(NamedTuple):
    """What happened in one window, in one currency."""

    records: int  # events of all kinds
    orders_paid: int
    revenue_cents: int


@dataclasses.dataclass(frozen=True, slots=True)
class Totals:
    """Of a whole sample: counts, and cents by currency."""

    orders: int
    events: int  # well-formed
    malformed: int
    by_status: dict[str, int]
    revenue: dict[str, int]  # cents that were paid, by currency
    windows: dict[tuple[int, str], Window]  # by (start in ms, currency)
    latest: dict[str, int]  # orders by the status they end in

    @classmethod
    def of(cls, sample: Sample, window_ms: int) -> Totals:
        events = sample.events(0, sample.ticks)
        good = events.status >= 0
        number, tick, paid = events.number[good], events.tick[good], events.status[good] == PAID
        cents, currency = amounts(sample.seed, number) * paid, currencies(sample.seed, number)
        start = sample.time_ms(tick) // window_ms * window_ms
        moments = _moments(sample.seed, np.arange(sample.orders, dtype=np.int64))
        last = np.where(moments < _NEVER, moments, -1).argmax(axis=0)
        return cls(
            orders=sample.orders,
            events=int(good.sum()),
            malformed=int((~good).sum()),
            by_status={name: int((events.status == at).sum()) for at, name in enumerate(STATUSES)},
            revenue={name: int(cents[currency == at].sum()) for at, name in enumerate(CURRENCIES)},
            windows=_windows(start, currency, paid, cents),
            latest={name: int((last == at).sum()) for at, name in enumerate(STATUSES)},
        )


def amounts(seed: int, numbers: Ints) -> Ints:
    """What each order comes to, in cents."""
    total = np.zeros(len(numbers), np.int64)
    for _, quantity, price in _lines(seed, numbers):
        total += quantity * price
    return total


def currencies(seed: int, numbers: Ints) -> Ints:
    """Each order's currency, as an index: that of its customer."""
    return _customer(seed, numbers) % len(CURRENCIES)


def _windows(
    start_ms: Ints, currency: Ints, paid: npt.NDArray[np.bool_], cents: Ints
) -> dict[tuple[int, str], Window]:
    table = pa.table({"start": start_ms, "currency": currency, "paid": paid.astype(np.int64), "cents": cents})
    sums = table.group_by(["start", "currency"]).aggregate(
        [("paid", "count"), ("paid", "sum"), ("cents", "sum")]
    )
    return {
        (row["start"], CURRENCIES[row["currency"]]): Window(
            row["paid_count"], row["paid_sum"], row["cents_sum"]
        )
        for row in sums.to_pylist()
    }


# ── chance, which is a function of (seed, number, what for) ──────────────────────────


def _draw(seed: int, numbers: Ints, purpose: int, below: int) -> Ints:
    """A number below `below` for each; the mixing is that of splitmix64."""
    with np.errstate(over="ignore"):
        mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64((seed * 0xD1342543DE82EF95 + purpose * 0x2545F4914F6CDD1D) % (1 << 64))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(below)).astype(np.int64)


def _moments(seed: int, numbers: Ints) -> Ints:
    """The tick of each status of each order, one row a status; _NEVER where it does not come to it."""
    fate = _draw(seed, numbers, 1, 100)
    paid = numbers + 1 + _draw(seed, numbers, 2, 40)
    shipped = paid + 10 + _draw(seed, numbers, 3, 60)
    cancelled = numbers + 5 + _draw(seed, numbers, 4, 60)
    return np.stack(
        [
            numbers,
            np.where(fate < _PAID, paid, _NEVER),
            np.where(fate < _SHIPPED, shipped, _NEVER),
            np.where((fate >= _PAID) & (fate < _CANCELLED), cancelled, _NEVER),
        ]
    )


def _customer(seed: int, numbers: Ints) -> Ints:
    return _draw(seed, numbers, 5, CUSTOMERS)


def _lines(seed: int, numbers: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """The lines of each order: product (an index), quantity (0: no such line), price."""
    prices = np.array([price for _, price in PRODUCTS], np.int64)
    count = 1 + _draw(seed, numbers, 6, LINES_MAX)
    first = _draw(seed, numbers, 7, len(PRODUCTS))
    for line in range(LINES_MAX):
        product = (first + 5 * line) % len(PRODUCTS)
        quantity = 1 + _draw(seed, numbers, 10 + line, 3)
        yield product, np.where(line < count, quantity, 0), prices[product]


# ── as records ───────────────────────────────────────────────────────────────────────


def _render(sample: Sample, events: Events) -> pa.RecordBatch:
    number = events.number
    time = pa.array(sample.time_ms(events.tick)).cast(pa.timestamp("ms", "UTC"))
    order_id = _join(f"{sample.seed:06x}-", _padded(number, 7))
    value = _join(
        '{"order_id":"', order_id,
        '","customer":"c-', _padded(_customer(sample.seed, number), 4),
        '","status":"', _pick(STATUSES, np.maximum(events.status, 0)),
        '","amount":', _text(amounts(sample.seed, number)),
        ',"currency":"', _pick(CURRENCIES, currencies(sample.seed, number)),
        '","items":[', _items(sample.seed, number),
        '],"at":"', pc.strftime(time, "%Y-%m-%dT%H:%M:%S"), 'Z"}',
    ).cast(pa.binary())  # fmt: skip
    bad = events.status < 0
    if bad.any():
        value = pc.replace_with_mask(value, pa.array(bad), _spoiled(sample, value, number, bad))
    return pa.RecordBatch.from_pydict({"key": order_id.cast(pa.binary()), "value": value})


def _spoiled(sample: Sample, values: Any, number: Ints, bad: npt.NDArray[np.bool_]) -> Any:
    """What became of the records that are malformed, each in one of the ways there are."""
    ways = _draw(sample.seed, number[bad], 91, len(SPOILING))
    good = values.filter(pa.array(bad)).to_pylist()
    return pa.array([SPOILING[way](value) for way, value in zip(ways, good, strict=True)], pa.binary())


SPOILING = (
    lambda value: value[: len(value) // 2],
    lambda value: b"an order, but not in JSON",
    lambda value: b"\xff\xfe" + value,
    lambda value: value.replace(b'"order_id"', b'"order"'),
    lambda value: value.replace(b'"amount":', b'"amount":"about ').replace(b',"currency', b'","currency'),
)


def _items(seed: int, number: Ints) -> Any:
    """The lines, each with a comma in front except for the first, and nothing for those that are not there."""
    names = tuple(name for name, _ in PRODUCTS)
    parts: list[Any] = []
    for line, (product, quantity, price) in enumerate(_lines(seed, number)):
        comma = "," if line else ""
        text = _join(
            comma + '{"product":"', _pick(names, product), '","quantity":', _text(quantity),
            ',"price":', _text(price), "}",
        )  # fmt: skip
        parts.append(pc.if_else(pa.array(quantity > 0), text, ""))
    return _join(*parts)


def _join(*parts: Any) -> Any:
    return pc.binary_join_element_wise(*parts, "")


def _text(numbers: Ints) -> Any:
    return pa.array(numbers).cast(pa.string())


def _padded(numbers: Ints, width: int) -> Any:
    return pc.utf8_lpad(_text(numbers), width, "0")


def _pick(words: tuple[str, ...], index: Ints) -> Any:
    return pa.array(words).take(pa.array(index))
