"""Queries, watched."""

from __future__ import annotations

import io
import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.pipeline import query_watch
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.query_starter import QueryStarter
from andiron.spark.pipeline.query_watch import ProgressListener, QueryWatch
from andiron.spark.pipeline.screen import Screen
from andiron.spark.pipeline.stop_request import StopRequest


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_watch, "LOOK_EVERY_S", 0)


class Query:
    status = {"isTriggerActive": False}

    def __init__(self, name: str, looks: int = 2, problem: str | None = None) -> None:
        self.id = self.name = name
        self.looks, self.problem = looks, problem
        self.stopped = False
        self.lastProgress: Any = None

    @property
    def isActive(self) -> bool:
        self.looks -= 1
        return self.looks >= 0 and not self.stopped

    def exception(self) -> str | None:
        return self.problem

    def stop(self) -> None:
        self.stopped = True


def progress(name: str, batch: int) -> Any:
    told = {"id": name, "batchId": batch, "numInputRows": 5, "durationMs": {"addBatch": 1}}
    return SimpleNamespace(json=json.dumps(told), batchId=batch)


class World:
    """Spark with a listener, and a job that starts these queries."""

    def __init__(self, *queries: Query, held_up: threading.Event | None = None, problem: str = "") -> None:
        self.ear: Any = None
        self.queries: Any = queries
        self.noted: list[Any] = []
        self.stop = StopRequest()
        self.said: list[str] = []
        spark: Any = SimpleNamespace(
            streams=SimpleNamespace(addListener=self.listen, active=list(queries[:1]) if held_up else [])
        )

        def start() -> list[Any]:
            if held_up is not None:
                held_up.wait()
            if problem:
                raise ValueError(problem)
            return list(self.queries)

        launch = QueryStarter(start)
        launch.start()
        if held_up is None:
            launch.join()
        self.watch = QueryWatch(spark, launch, Screen(io.StringIO()), self.noted.append)

    def listen(self, ear: Any) -> None:
        self.ear = ear


def test_batches_are_noted_as_they_are_heard_of() -> None:
    world = World(Query("a", looks=3))
    world.ear.onQueryProgress(SimpleNamespace(progress=progress("a", 4)))
    world.watch.until_over(world.stop, lambda: ())

    assert [(each["name"], each["batch"], each["rows"]) for each in world.noted[-1]] == [("a", 4, 5)]


def test_the_last_batch_is_asked_for_when_all_is_over() -> None:
    query = Query("a", looks=10)
    world = World(query)
    query.lastProgress = progress("a", 9)
    world.watch.finish()

    assert query.stopped
    assert [(each["batch"], each["state"]) for each in world.noted[-1]] == [(9, "stopped")]


def test_queries_are_seen_while_others_still_start() -> None:
    held_up = threading.Event()
    world = World(Query("first"), Query("second"), held_up=held_up)
    seen: list[int] = []

    def beside() -> list[str]:
        seen.append(len(world.noted[-1]))
        held_up.set()
        return []

    world.watch.until_over(world.stop, beside)

    assert seen[0] == 1
    assert [each["name"] for each in world.noted[-1]] == ["first", "second"]


def test_a_failure_is_raised_in_a_line_and_noted() -> None:
    world = World(
        Query("a", looks=100), Query("b", looks=0, problem="terminated with exception: no disk\n\tat x")
    )

    with pytest.raises(PipelineError, match=r"^b failed: no disk$"):
        world.watch.until_over(world.stop, lambda: ())
    assert [each["state"] for each in world.noted[-1]] == ["starting", "failed"]


def test_a_failure_in_the_last_batch_is_one_too() -> None:
    world = World(Query("a", looks=0, problem="no disk"))

    with pytest.raises(PipelineError, match="a failed: no disk"):
        world.watch.finish()


def test_a_job_that_does_not_start_says_why() -> None:
    world = World(problem="no such topic")

    with pytest.raises(PipelineError, match="the job cannot be started: no such topic"):
        world.watch.until_over(world.stop, lambda: ())


def test_whoever_asks_to_stop_is_heard() -> None:
    world = World(Query("a", looks=1_000_000))

    def beside() -> list[str]:
        world.stop.asked = True
        return []

    world.watch.until_over(world.stop, beside)


def test_a_progress_listener_keeps_the_progress_of_batches_alone() -> None:
    listener = ProgressListener()
    event: Any = SimpleNamespace(progress=SimpleNamespace(json='{"batchId": 3}'))
    listener.onQueryStarted(event)
    listener.onQueryProgress(event)
    listener.onQueryIdle(event)
    listener.onQueryTerminated(event)

    assert list(listener.reports) == [{"batchId": 3}]
