"""Where the killing is done: a node, input without end, a driver that is started again, and the account.

    arena = Arena(folder, kills, {"sink": "kills.jobs:sink"})
    with arena:
        arena.run()
        assert arena.account("sink").is_exact

Input goes on while things die, by a producer that is idempotent, so that each value is in the source once. A node
that is dead is started again on its data; a driver too, on its checkpoint. `run` returns when the driver has come to
its end by itself, with everybody killed who was to be.

Any job can be put in here. One that does not end in a topic is judged by whoever wrote it: `source_values` is what
went in.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from confluent_kafka import Producer

from andiron.spark.sink.decision import DECISIONS
from kills.cells import Kill, Plan
from kills.driver import FIRED, INPUT_DONE
from kills.jobs import Stage
from kills.striking import FOLDER
from peers.node import Node
from peers.process import Server
from peers.quick_spark import scratch
from peers.topics import Topics

HERE = Path(__file__).parent
SETTINGS = {
    "offsets.topic.num.partitions": "5",
    "transaction.state.log.num.partitions": "5",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}
OUTAGE_S = 3.0  # the jobs' transactions time out after one
ROWS_PER_SECOND = 60
PARTITIONS = 2


def _kafka(folder: Path, settings: Mapping[str, str]) -> Server:
    """Apache Kafka as it comes: without two-phase commit."""
    from peers.kafka import Kafka

    return Kafka(folder, settings=dict(settings), log_level="WARN")


SERVERS: dict[str, Callable[[Path, Mapping[str, str]], Server]] = {
    "andiron": lambda folder, settings: Node(folder, settings=dict(settings)),
    "kafka": _kafka,
}


class Account(NamedTuple):
    """What came out, beside what went in."""

    rows: int
    lost: int
    duplicated: int
    strange: int  # that never went in

    @property
    def is_exact(self) -> bool:
        return self.rows > 0 and self.lost == self.duplicated == self.strange == 0


class Arena:
    """One node, one driver, and the kills that were planned."""

    def __init__(
        self,
        folder: Path,
        kills: Sequence[Kill],
        jobs: Mapping[str, str],
        settings: Mapping[str, str] | None = None,
        server: str = "andiron",
        program: str = "kills.driver",
    ) -> None:
        self.folder = folder
        self.plan = Plan(str(folder))
        self.jobs = dict(jobs)
        self.program = program
        self.node = SERVERS[server](folder / "node", {**SETTINGS, **(settings or {})})
        self.topics = Topics(self.node.bootstrap, "arena")
        self.stages: dict[str, Stage] = {}
        self.starts = 0  # of the driver
        self._driver: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._input_over = threading.Event()
        self._threads: list[threading.Thread] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.plan.write(kills)

    def __enter__(self) -> Self:
        self.node.start()
        self._note_broker()
        self.source = self.topics.make(PARTITIONS, "source")
        for name in self.jobs:
            target = self.topics.make(PARTITIONS, f"target-{name}")
            stage = Stage(self.node.bootstrap, self.source, target, str(self.folder / name))
            self.stages[name] = stage
        told = {"jobs": self.jobs, "stages": {name: vars(stage) for name, stage in self.stages.items()}}
        (self.folder / "stage.json").write_text(json.dumps(told))
        self._begin(self._look_after_node)
        self._begin(self._feed)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._input_over.set()
        for thread in self._threads:
            thread.join()
        self._kill_driver()
        self.node.kill()

    def run(self, patience_s: float = 600.0) -> None:
        """Until the driver has come to its end, however often it has to be started."""
        until = time.monotonic() + patience_s
        while True:
            before = self.plan.fired
            self._start_driver()
            assert self._driver is not None
            while self._driver.poll() is None:
                if (self.folder / FIRED).exists():
                    self._input_over.set()
                if time.monotonic() > until:
                    raise AssertionError(f"{self._where()} after {patience_s} s\n{self.printed()[-6000:]}")
                time.sleep(0.1)
            self._kill_driver()
            if self._driver.returncode == 0:
                return
            if not any(kill.who == "driver" for kill in self.plan.kills[before : self.plan.fired]):
                raise AssertionError(
                    f"the driver failed by itself; {self._where()}\n{self.printed()[-6000:]}"
                )

    # ── the account ──────────────────────────────────────────────────────────────────

    def source_values(self) -> list[str]:
        """All that went in."""
        return self.topics.values(self.source)

    def account(self, job: str) -> Account:
        """What readers of committed records find in a job's topic, beside what went in."""
        wanted = Counter(self.source_values())
        assert max(wanted.values()) == 1, "the input itself has each value once"
        found = Counter(self.topics.values(self.stages[job].target))
        return Account(
            sum(wanted.values()),
            sum((wanted - Counter(found.keys())).values()),
            sum(count - 1 for count in found.values()),
            len(found.keys() - wanted.keys()),
        )

    def mended(self) -> int:
        """In how many batches something was lost by a timeout, and noted to be written again."""
        found = [json.loads(value) for value in self.topics.values(DECISIONS.topic)]
        return len({each["batch"] for each in found if "lost" in each})

    def printed(self) -> str:
        """What the driver and its workers printed."""
        return (self.folder / "driver.log").read_text(errors="replace")

    # ── what goes on meanwhile ───────────────────────────────────────────────────────

    def _look_after_node(self) -> None:
        while not self._over.is_set():
            if not self.node.running:
                killed = self.plan.kills[self.plan.fired - 1]
                self._over.wait(OUTAGE_S if killed.who == "outage" else 0.2)
                self.node.start()
                self._note_broker()
            time.sleep(0.02)

    def _feed(self) -> None:
        told = {"bootstrap.servers": self.node.bootstrap, "enable.idempotence": True, "log_level": 0}
        producer = Producer(told)
        for number in itertools.count():
            if self._input_over.wait(1 / ROWS_PER_SECOND):
                break
            producer.produce(self.source, f"{number:07}", f"key-{number % 7}", number % PARTITIONS)
            producer.poll(0)
        left = producer.flush(60)
        if not left and not self._over.is_set():
            (self.folder / INPUT_DONE).touch()

    def _begin(self, work: object) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _note_broker(self) -> None:
        scratch = self.folder / "broker.pid.new"
        scratch.write_text(str(self.node.pid))
        scratch.rename(self.folder / "broker.pid")

    def _where(self) -> str:
        kills, fired = self.plan.kills, self.plan.fired
        return f"{fired} of {len(kills)} kills done, next {kills[fired] if fired < len(kills) else 'none'}"

    # ── the driver ───────────────────────────────────────────────────────────────────

    def _start_driver(self) -> None:
        self.starts += 1
        path = os.pathsep.join([str(HERE / "hook"), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        environ = {**os.environ, "PYTHONPATH": path, FOLDER: str(self.folder), "TMPDIR": scratch()}
        with open(self.folder / "driver.log", "ab") as out:
            self._driver = subprocess.Popen(
                [sys.executable, "-m", self.program, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environ,
                start_new_session=True,
            )

    def _kill_driver(self) -> None:
        """It, and whatever of it is still there: workers that have lost their JVM."""
        if self._driver is not None and self._driver.poll() is None:
            self._driver.kill()
            self._driver.wait()
        mine = f"{FOLDER}={self.folder}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if mine in (entry / "environ").read_bytes().split(b"\0"):
                        os.kill(int(entry.name), signal.SIGKILL)
