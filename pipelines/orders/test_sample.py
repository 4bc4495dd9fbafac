"""Sample orders are the same for the same seed, and add up."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest
from sample import CUSTOMERS, MINUTE_MS, REACH, Sample, customers

SAMPLE = Sample(seed=7, orders=400, every_ms=700, malformed=0.05)
ORDER = {"order_id", "customer", "status", "amount", "currency", "items", "at"}


def written(sample: Sample, chunk: int = 10_000) -> list[dict[str, Any]]:
    return pa.Table.from_batches(sample.chunks(chunk)).to_pylist()


def as_order(value: bytes) -> dict[str, Any] | None:
    try:
        order = json.loads(value)
    except ValueError:
        return None
    fits = order.keys() == ORDER and isinstance(order["amount"], int)
    return order if fits else None


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return written(SAMPLE)


@pytest.fixture(scope="module")
def orders(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [order for record in records if (order := as_order(record["value"]))]


def test_the_same_seed_makes_the_same_records_however_they_are_cut(records: list[dict[str, Any]]) -> None:
    assert written(SAMPLE, chunk=37) == records


def test_another_seed_makes_others() -> None:
    assert written(Sample(seed=8, orders=10)) != written(Sample(seed=9, orders=10))


def test_a_longer_sample_begins_like_a_shorter_one(records: list[dict[str, Any]]) -> None:
    longer = Sample(seed=7, orders=4_000, every_ms=700, malformed=0.05)
    assert longer.records(0, 300).to_pylist() == SAMPLE.records(0, 300).to_pylist()


def test_an_order_goes_through_its_states_in_order(records: list[dict[str, Any]]) -> None:
    states: dict[bytes, list[str]] = defaultdict(list)
    for record in records:
        if order := as_order(record["value"]):
            assert record["key"].decode() == order["order_id"]
            states[record["key"]].append(order["status"])

    assert {tuple(each) for each in states.values()} == {
        ("created",),
        ("created", "paid"),
        ("created", "paid", "shipped"),
        ("created", "cancelled"),
    }
    assert len(states) == SAMPLE.orders


def test_an_amount_is_that_of_the_items_to_the_cent(orders: list[dict[str, Any]]) -> None:
    for order in orders:
        assert order["amount"] == sum(each["quantity"] * each["price"] for each in order["items"])


def test_times_never_go_back(orders: list[dict[str, Any]]) -> None:
    times = [order["at"] for order in orders]
    assert times == sorted(times)


def test_everybody_who_orders_is_known(orders: list[dict[str, Any]]) -> None:
    known = {each.customer for each in customers()}
    assert len(known) == CUSTOMERS
    assert {order["customer"] for order in orders} <= known


def test_the_totals_are_those_of_the_records(
    records: list[dict[str, Any]], orders: list[dict[str, Any]]
) -> None:
    totals = SAMPLE.totals()
    paid = [order for order in orders if order["status"] == "paid"]
    revenue: Counter[str] = Counter()
    for order in paid:
        revenue[order["currency"]] += order["amount"]

    assert totals.orders == SAMPLE.orders
    assert totals.events == len(orders)
    assert totals.malformed == len(records) - len(orders) > 0
    assert totals.by_status == Counter(order["status"] for order in orders)
    assert totals.revenue == revenue
    assert totals.latest == Counter({order["order_id"]: order["status"] for order in orders}.values())


def test_the_windows_are_the_revenue_cut_by_time(orders: list[dict[str, Any]]) -> None:
    totals = SAMPLE.totals()

    assert sum(each.revenue_cents for each in totals.windows.values()) == sum(totals.revenue.values())
    assert sum(each.orders_paid for each in totals.windows.values()) == totals.by_status["paid"]
    assert sum(each.records for each in totals.windows.values()) == totals.events
    assert all(start % MINUTE_MS == 0 for start, _ in totals.windows)
    assert len({start for start, _ in totals.windows}) > 3


def test_no_share_of_malformed_records_is_none() -> None:
    assert Sample(orders=500, malformed=0).totals().malformed == 0


def test_nothing_happens_after_the_last_tick() -> None:
    assert SAMPLE.records(SAMPLE.ticks, SAMPLE.ticks + REACH).num_rows == 0
