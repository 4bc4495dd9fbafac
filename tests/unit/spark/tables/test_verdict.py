"""How differences are told."""

from __future__ import annotations

import numpy as np
import pytest

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range
from andiron.spark.tables.verdict import Finding, Verdict, runs


@pytest.mark.parametrize(
    ("offsets", "told"),
    [
        ([7], "7"),
        ([1, 2, 3, 7, 9, 10], "1-3, 7, 9-10"),
        (list(range(0, 30, 2)), "0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 5 more"),
    ],
)
def test_offsets_are_told_in_runs(offsets: list[int], told: str) -> None:
    assert runs(np.array(offsets)) == told


def test_a_finding_says_where() -> None:
    found = Finding("missing", "7 not in the table", 3, Range(TopicPartition("orders", 2), 5, 9), 1)

    assert str(found) == "batch 3, orders-2 [5, 9): 7 not in the table"
    assert found.as_json()["topic"] == "orders"
    assert str(Finding("missing", "some rows")) == "some rows"
    assert str(Finding("missing", "7", None, found.range)) == "orders-2 [5, 9): 7"


def test_a_verdict_agrees_if_nothing_was_found() -> None:
    verdict = Verdict(records=3)

    assert verdict.agrees
    assert verdict.as_json()["records"] == 3
    verdict.findings.append(Finding("missing", "some rows"))
    assert not verdict.agrees
    assert verdict.as_json()["findings"][0]["detail"] == "some rows"
