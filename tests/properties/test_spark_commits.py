"""The sink's protocol against a model that does everything wrong that can go wrong.

Whoever plays chooses, one ask at a time, who goes on, who dies (before or after what it asked for was done), which
task gets another attempt and when the query is started anew while the old run lives on. At the end one run goes on
by itself, and each row must be there once. `Cluster` complains at any step if something decided is aborted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.spark.sink import commit_protocol, decision_outcome
from andiron.spark.sink.decision import Decision, Pointer
from andiron.spark.sink.ledger_request import Procedure
from andiron.spark.sink.participant_names import ParticipantNames
from properties.effort import tries
from worlds.committing import Process, Spark, WrongTurn

EVENTS = 120


def play(choose: Callable[[int], int], *, batches: int = 3, timeouts: bool = False) -> Spark:
    """Bad weather for so many events; `choose(n)` gives a number below n.

    With timeouts any transaction may be aborted, decided or not; then a batch has as many tasks each time, as it
    has in Spark unless somebody changes the query.
    """
    fixed = 1 + choose(3) if timeouts else 2
    spark = Spark(batches, tasks=fixed)
    spark.cluster.has_timeouts = timeouts

    def tasks() -> int:
        return fixed if timeouts else 1 + choose(3)

    spark.start(tasks())
    for _ in range(EVENTS):
        actors = spark.actors
        current = spark.runs[-1]
        if not actors or (current.over and choose(4) == 0):
            if spark.committed >= batches - 1:
                break
            spark.start(tasks())
            continue
        actor = actors[choose(len(actors))]
        match choose(24):
            case 0:
                actor.run.crash(actor)
            case 1:
                actor.act(spark.cluster)
                actor.run.crash(actor)
            case 2 if actor.number is not None and not actor.run.over and actor.run.driver is None:
                actor.run.launch(actor.number)
            case 3 if choose(3) == 0:
                spark.start(tasks())  # and the old run lives on
            case 4 if choose(4) == 0:
                actor.run.fail()
            case 5 if choose(8) == 0:
                spark.cluster.lose_pointer()
            case 6 if actor.repeatable:
                spark.step(actor, times=2)
            case 9 | 10 if timeouts and (there := spark.cluster.open_ids()):
                spark.cluster.time_out(there[choose(len(there))])
            case 7 | 8:
                spark.cluster.markers_arrive()
            case _:
                spark.step(actor)
    spark.finish()
    return spark


@settings(max_examples=tries(1000), deadline=None)
@given(st.integers(0, 2**32))
def test_each_row_is_written_once_whatever_happens(seed: int) -> None:
    play(random.Random(seed).randrange).check()


@settings(max_examples=tries(1000), deadline=None)
@given(st.integers(0, 2**32))
def test_each_row_is_written_once_even_if_what_was_decided_is_aborted_by_its_timeout(seed: int) -> None:
    play(random.Random(seed).randrange, timeouts=True).check()


def ends(spark: Spark, tasks: int, stop_at: int, *, done: bool) -> int:
    """Run until so many asks were answered, then everything of it dies; how many there were."""
    run = spark.start(tasks)
    count = 0
    while actors := run.actors:
        if count == stop_at:
            if done:
                actors[0].act(spark.cluster)
            run.over, run.attempts, run.driver = True, [], None
            return count
        spark.cluster.markers_arrive()
        spark.step(actors[0])
        count += 1
    return count


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize("tasks", [(2, 2), (2, 1), (1, 3)])
def test_a_driver_may_die_at_any_step_and_the_next_one_too(tasks: tuple[int, int], done: bool) -> None:
    total = ends(Spark(2), tasks[0], -1, done=done)
    for first in range(total):
        for second in (*range(0, total, 5), -1):
            spark = Spark(2)
            ends(spark, tasks[0], first, done=done)
            ends(spark, tasks[1], second, done=done)
            spark.finish()
            spark.check()


# ── and a protocol with a hole is found out ──────────────────────────────────────────


def nothing(*_: Any, **__: Any) -> Procedure[set[str]]:
    return set()
    yield


def unfinished(write: Any, *_: Any, **__: Any) -> Procedure[decision_outcome.DecisionOutcome]:
    return decision_outcome.DecisionOutcome(write.sink)
    yield


def name_of_task(self: Process, sink: Any, pointer: Pointer, batch: int) -> str:
    return f"{self.task}.{pointer.turn}"


def same_name(self: Process, sink: Any, pointer: Pointer, batch: int) -> str:
    return f"{self.worker}.0.{pointer.turn}"


def everything(sink: Any, pointer: Pointer, anew: Decision) -> Procedure[Decision]:
    return anew
    yield


def never(write: Any, pointer: Pointer | None) -> bool:
    return False


def same_term(self: Pointer, run: str, term: str) -> Pointer:
    return Pointer(self.batch, self.offset, run, "one", self.turn)


# Where it is, what is put in its place, and a seed that shows it.
HOLES: dict[str, tuple[Any, str, Any, int]] = {
    "what was decided is not finished by the next run": (commit_protocol, "_finish_newest", unfinished, 50),
    "what is open is left open": (commit_protocol, "terminate", nothing, 0),
    "attempts of a task share an id": (ParticipantNames, "next_name", name_of_task, 0),
    "a process has one id for all its tasks": (ParticipantNames, "next_name", same_name, 103),
    "a decided batch is written again": (commit_protocol, "is_decided", never, 1),
    "what was lost is not written again": (decision_outcome.DecisionOutcome, "mending", None, 0),
    "all that is written again counts": (commit_protocol, "mended", everything, 0),
    "terms are all the same, and runs come back": (Pointer, "registered", same_term, 3708),
}


TIMEOUTS = ("mending", "mended")  # holes that show where transactions have one


@pytest.mark.parametrize("hole", HOLES)
def test_a_protocol_with_a_hole_is_found_out(hole: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, replacement, shows = HOLES[hole]
    monkeypatch.setattr(owner, name, replacement)

    for seed in range(shows, shows + 2000):
        try:
            play(random.Random(seed).randrange, timeouts=name in TIMEOUTS).check()
        except (AssertionError, WrongTurn):
            return
    pytest.fail(f"not noticed: {hole}")
