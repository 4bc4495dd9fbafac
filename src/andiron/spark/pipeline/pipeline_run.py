"""A run of a pipeline, from the first question whether there is a broker to the last batch.

    choose settings ─▶ a broker ─┬▶ topics ─▶ (sample data) ─┬▶ queries ─▶ watch … ─▶ stop between batches
                                 └▶ Spark, in seconds ───────┘

What can be refused is refused before Spark is started; with a node of our own, which is seldom in the wrong, the
two start side by side. Everything that was started here is ended here, in the opposite order, whichever way the run
ends.

The checkpoints make a run the continuation of the one before: nothing here knows how far it came.

Read next: query_watch.py, then run_file.py for what other terminals see.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from pyspark.sql import SparkSession

from andiron.spark.pipeline.embedded_node import cluster_id, embedded_node
from andiron.spark.pipeline.errors import PipelineError
from andiron.spark.pipeline.job_settings import choose_settings, lasting_settings
from andiron.spark.pipeline.pipeline import Pipeline
from andiron.spark.pipeline.query_progress import FAILED, RUNNING, STARTING, STOPPED
from andiron.spark.pipeline.query_starter import QueryStarter
from andiron.spark.pipeline.query_watch import QueryWatch
from andiron.spark.pipeline.run_file import RunFile, RunState
from andiron.spark.pipeline.sample_feeder import SampleFeeder
from andiron.spark.pipeline.screen import Screen
from andiron.spark.pipeline.session_starter import GONE, SessionStarter, stop_spark
from andiron.spark.pipeline.stop_request import StopRequest


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line asks of a run: where the cluster and the data are, settings, Spark, sample data."""

    bootstrap: str
    data: str
    given: dict[str, str]  # settings
    master: str | None = None
    conf: dict[str, str] = field(default_factory=dict)  # of Spark
    embedded: str | None = None  # where the records of a node of our own are kept
    sample_rate: float | None = None
    sample_total: int | None = None
    results: bool = False  # print what comes out

    @property
    def sampling(self) -> bool:
        return self.sample_rate is not None or self.sample_total is not None


class PipelineRun:
    """One run of a pipeline, in this process."""

    def __init__(self, pipeline: Pipeline, wishes: RunOptions, screen: Screen) -> None:
        self.name = pipeline.name
        self.run = RunFile(pipeline.name, wishes.data)
        self._pipeline = pipeline
        self._wishes = wishes
        self._screen = screen
        self._stop = StopRequest()
        self._state: RunState = {}
        self._log = os.path.join(self.run.folder, "spark.log")

    def __call__(self) -> None:
        """Run it until somebody stops it, it is done, or a query fails."""
        job = self._pipeline.load()
        wishes = self._wishes
        settings = choose_settings(self.name, job.SETTINGS, wishes.given, wishes.bootstrap, self.run.folder)
        if wishes.sampling and not hasattr(job, "feed"):
            raise PipelineError(f"{self.name} has no sample data: its job has no feed")
        with self.run.hold():
            self._stop.take_signals()
            try:
                self._run(job, settings)
            except (Exception, KeyboardInterrupt) as error:
                self._write(state=FAILED, why=str(error) or "interrupted")
                raise
            self._write(state=STOPPED)
        self._screen.say(f"{self.name} is stopped; the next run goes on from here")

    def _run(self, job: ModuleType, settings: Any) -> None:
        wishes = self._wishes
        with contextlib.ExitStack() as stack:
            starting = SessionStarter(f"andiron pipeline {self.name}", wishes.master, wishes.conf, self._log)
            stack.callback(starting.give_up)
            if wishes.embedded is not None:
                self._begin(starting)
                self._embed(stack, wishes.embedded)
            cluster, lasting = cluster_id(wishes.bootstrap), lasting_settings(job, settings)
            self.run.check_same(cluster, lasting)
            self._state = self._first_state(cluster, lasting)
            self._write(state=STARTING)
            self._begin(starting)
            if hasattr(job, "prepare"):
                job.prepare(settings)
            if hasattr(job, "about"):
                self._screen.say("\n".join(job.about(settings)))
            sampling = self._sample(job, settings, stack)
            results = job.results(settings) if wishes.results and hasattr(job, "results") else None

            def beside() -> Sequence[str]:
                if sampling is not None:
                    sampling.check()
                return results.changes() if results is not None else ()

            spark = starting.session()
            stack.push(lambda kind, *_: None if kind is KeyboardInterrupt else stop_spark(spark))
            self._watch(job, settings, beside, spark)

    # ── what belongs to it ───────────────────────────────────────────────────────────

    def _begin(self, starting: SessionStarter) -> None:
        if starting.ident is None:
            self._screen.say(f"starting Spark; what it prints goes to {self._log}")
            starting.start()

    def _embed(self, stack: contextlib.ExitStack, data: str) -> None:
        data, bootstrap = os.path.abspath(data), self._wishes.bootstrap
        log = os.path.join(self.run.folder, "node.log")
        if stack.enter_context(embedded_node(bootstrap, data, log)):
            self._screen.say(f"a node at {bootstrap}, its records in {data}")
        else:
            self._screen.say(f"using the node that answers at {bootstrap}")

    def _sample(self, job: ModuleType, settings: Any, stack: contextlib.ExitStack) -> SampleFeeder | None:
        rate, total = self._wishes.sample_rate, self._wishes.sample_total
        if not self._wishes.sampling:
            return None
        sampling = SampleFeeder(job.feed(settings, rate, total), rate, total)
        sampling.start()
        stack.callback(sampling.stop)
        return sampling

    def _watch(
        self, job: ModuleType, settings: Any, beside: Callable[[], Sequence[str]], spark: SparkSession
    ) -> None:
        self._state["master"] = spark.sparkContext.master
        launch = QueryStarter(lambda: job.start(spark, settings))
        launch.start()
        watch = QueryWatch(
            spark, launch, self._screen, lambda queries: self._write(state=RUNNING, queries=queries)
        )
        try:
            watch.until_over(self._stop, beside)
            self._screen.end()
            if self._stop.asked:
                self._screen.say("stopping when the batches in hand are done; Ctrl-C again stops at once")
            watch.finish()
        except PipelineError as error:
            raise PipelineError(f"{error} ({self._log} has the rest)") from error
        except GONE as error:
            if not self._stop.asked:
                raise PipelineError(f"Spark has ended by itself; {self._log} may tell why") from error
            self._screen.say("Spark was stopped as well; the next run does the batches in hand again")

    # ── what others see ──────────────────────────────────────────────────────────────

    def _first_state(self, cluster: str, lasting: dict[str, str]) -> RunState:
        return {
            "name": self.name,
            "pid": os.getpid(),
            "started": time.time(),
            "bootstrap": self._wishes.bootstrap,
            "cluster": cluster,
            "lasting": lasting,
            "master": self._wishes.master,
            "folder": self.run.folder,
            "why": None,
            "queries": [],
        }

    def _write(self, **news: Any) -> None:
        if self._state:  # else nothing was begun, and what the run before said stands
            self._state |= {**news, "updated": time.time()}
            self.run.write(self._state)
