"""Who is killed, and at which step of a batch.

    task        the Python process of a task; Spark tries the task again
    committer   the Python process that commits for the driver; the query fails, and is started again in its session
    driver      Spark as a whole: the driver, its JVM, its workers; started again on the same checkpoint
    broker      the node; started again at once
    outage      the node, started again when every timeout of a transaction is over

A task has no part in the steps of the driver, nor a committer in those of tasks. What remains is the matrix.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import NamedTuple

from andiron.spark.steps import DRIVER_STEPS, STEPS, TASK_STEPS


class Kill(NamedTuple):
    """One cell, in the course of one job."""

    who: str
    step: str
    job: str = "sink"

    def __str__(self) -> str:
        return f"{self.who} at {self.step}"


WITHOUT_RESTART = [
    *(Kill("task", step) for step in TASK_STEPS),
    *(Kill("committer", step) for step in DRIVER_STEPS),
    *(Kill("broker", step) for step in STEPS),
]
DRIVERS = [Kill("driver", step) for step in STEPS]
OUTAGES = [Kill("outage", "after_prepare"), Kill("outage", "after_decision")]
ALL = [*WITHOUT_RESTART, *DRIVERS, *OUTAGES]


class Plan:
    """Kills in the order in which they are to come, each in another batch; kept in a folder all processes see."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def write(self, kills: Iterable[Kill]) -> None:
        """Once, before anything starts."""
        with open(f"{self.folder}/plan.json", "w", encoding="utf-8") as file:
            json.dump(list(kills), file)

    @property
    def kills(self) -> list[Kill]:
        with open(f"{self.folder}/plan.json", encoding="utf-8") as file:
            return [Kill(*each) for each in json.load(file)]

    @property
    def fired(self) -> int:
        """How many have come already."""
        done = 0
        while os.path.exists(self._mark(done)):
            done += 1
        return done

    def left(self, job: str) -> int:
        """How many of a job's are still to come."""
        return sum(kill.job == job for kill in self.kills[self.fired :])

    def claim(self, step: str, batch: int, job: str) -> Kill | None:
        """The kill that is due, if this is its step; it comes once, whoever else asks."""
        kills, done = self.kills, self.fired
        if done == len(kills) or (kills[done].step, kills[done].job) != (step, job):
            return None
        if done and kills[done - 1].job == job and batch <= self._batch(done - 1):
            return None
        scratch = f"{self.folder}/claim-{os.getpid()}"
        with open(scratch, "w", encoding="utf-8") as file:
            file.write(str(batch))
        try:
            os.link(scratch, self._mark(done))
        except FileExistsError:
            return None
        finally:
            os.remove(scratch)
        return kills[done]

    def _mark(self, number: int) -> str:
        return f"{self.folder}/fired-{number}"

    def _batch(self, number: int) -> int:
        with open(self._mark(number), encoding="utf-8") as file:
            return int(file.read())
