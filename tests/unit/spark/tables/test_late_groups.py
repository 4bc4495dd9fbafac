"""What a running query says about rows it has dropped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from andiron.spark.tables.late_groups import DROPPED, late_groups
from unit.spark.tables.worlds import Connected


class Node:
    """An operator of a plan, as the JVM shows it."""

    def __init__(self, dropped: int | None = None, *children: Node) -> None:
        self._dropped, self._children = dropped, children

    def metrics(self) -> Any:
        found = SimpleNamespace(
            isDefined=lambda: self._dropped is not None,
            get=lambda: SimpleNamespace(value=lambda: self._dropped),
        )
        return SimpleNamespace(get=lambda name: found if name == DROPPED else None)

    def children(self) -> Any:
        return SimpleNamespace(size=lambda: len(self._children), apply=lambda at: self._children[at])


def session(plan: Node | None) -> Any:
    execution = SimpleNamespace(executedPlan=lambda: plan)
    query = None if plan is None else SimpleNamespace(lastExecution=lambda: execution)
    shared = SimpleNamespace(activeStreamingQueries=lambda: SimpleNamespace(get=lambda id: query))
    uuid = SimpleNamespace(fromString=lambda text: text)
    jvm = SimpleNamespace(java=SimpleNamespace(util=SimpleNamespace(UUID=uuid)))
    return SimpleNamespace(
        sparkContext=SimpleNamespace(_jvm=jvm), _jsparkSession=SimpleNamespace(sharedState=lambda: shared)
    )


def test_what_all_operators_have_dropped_is_added_up() -> None:
    assert late_groups(session(Node(None, Node(2, Node(3)), Node(0))), "q") == 5


def test_a_query_that_is_not_running_has_dropped_nothing() -> None:
    assert late_groups(session(None), "q") == 0


def test_a_spark_that_cannot_be_asked_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    class Other(Node):
        def metrics(self) -> Any:
            raise Py4JError("no such method")

    assert late_groups(session(Other()), "q") == 0
    assert "cannot be counted" in caplog.text


def test_through_spark_connect_nobody_tells() -> None:
    connected: Any = Connected()

    assert late_groups(connected, "q") == 0
