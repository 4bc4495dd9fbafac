"""A world for the sink's protocol: a model of the cluster, and of Spark at its worst.

    Cluster     answers what courses ask: deciders, pointers, participants; nothing of it is lost
    Spark       runs of one query: tasks and drivers as courses, advanced one ask at a time by whoever plays

Attempts of tasks double, lag behind and die; runs are superseded while their tasks and drivers go on; and what has
crashed has done what it asked for last, or has not. `Cluster` itself holds two laws at every step: what was
decided is not aborted, and what was not is not committed.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from andiron.client.core.outbox import ProducerIdentity
from andiron.model.errors import ErrorCode, Fenced
from andiron.spark.sink import commit_protocol, ledger_request
from andiron.spark.sink.commit_protocol import BatchWrite, PreparedBatch
from andiron.spark.sink.decision import Decision, Participant, Pointer, Sink, SinkError, participant_id
from andiron.spark.sink.ledger_request import Procedure
from andiron.spark.sink.participant_names import ParticipantNames

SINK = Sink("query")
FAILURES_MAX = 4  # of tasks, before Spark gives up a batch
Row = tuple[int, int]  # batch, number


class Initiate(NamedTuple):
    """A task takes its participant's id."""

    id: str


class WriteRow(NamedTuple):
    """And writes under the identity it got."""

    id: str
    identity: ProducerIdentity
    row: Row


class WrongTurn(Exception):
    """A law of the protocol does not hold."""


@dataclass
class Holding:
    """A transactional id as its coordinator knows it."""

    identity: ProducerIdentity
    state: str = "Empty"
    rows: list[Row] = field(default_factory=list)


class Cluster:
    """Transactions that are atomic, and pointers that are seen a little later than they are decided."""

    def __init__(self) -> None:
        self.decider = ProducerIdentity(0, -1)
        self.pointer: Pointer | None = None
        self.unseen: Pointer | None = None  # decided, with its markers on the way
        self.topic: list[Decision] = []
        self.has_decided = False
        self.has_timeouts = False  # without two-phase commit what is decided may be lost all the same
        self.holdings: dict[str, Holding] = {}
        self.rows: Counter[Row] = Counter()
        self._producer_ids = itertools.count(1)

    def answer(self, ask: Any) -> Any:
        """Do what is asked; raises what a client would."""
        match ask:
            case ledger_request.ReadPointer():
                return self.pointer
            case ledger_request.ReadDecision(_, offset):
                return self.topic[offset]
            case ledger_request.FindDecision():
                return (len(self.topic) - 1, self.topic[-1]) if self.topic else None
            case ledger_request.HasDecided():
                return self.has_decided
            case ledger_request.AcquireDecider():
                return self._acquire()
            case ledger_request.ListOpen():
                return {
                    name: each.identity.id for name, each in self.holdings.items() if each.state == "Ongoing"
                }
            case ledger_request.WritePointer():
                return self._record(ask)
            case ledger_request.CommitParticipant(name, identity):
                return self._finish(name, identity)
            case Initiate(name) | ledger_request.AbortTransaction(name):
                return self._initiate(name)
            case WriteRow(name, identity, row):
                return self._write(name, identity, row)
        return None

    def markers_arrive(self) -> None:
        """What was decided is seen."""
        self.pointer, self.unseen = self.unseen or self.pointer, None

    def time_out(self, name: str) -> None:
        """A transaction without two-phase commit is aborted, be it decided or not."""
        assert self.has_timeouts
        holding = self.holdings[name]
        self.holdings[name] = Holding(ProducerIdentity(holding.identity.id, holding.identity.epoch + 1))

    def lose_pointer(self) -> None:
        """It expires; the topic stays."""
        self.markers_arrive()
        self.pointer, self.has_decided = None, False

    @property
    def decided(self) -> dict[tuple[str, ProducerIdentity], Decision]:
        return {
            (each.transactional_id(SINK, decision.term), each.identity): decision
            for decision in self.topic
            for each in decision.participants
        }

    def open_ids(self) -> list[str]:
        return [name for name, each in self.holdings.items() if each.state == "Ongoing"]

    def _acquire(self) -> ProducerIdentity:
        self.markers_arrive()
        self.has_decided = False
        self.decider = ProducerIdentity(0, self.decider.epoch + 1)
        return self.decider

    def _record(self, ask: ledger_request.WritePointer) -> Pointer:
        if ask.identity != self.decider:
            raise ErrorCode.PRODUCER_FENCED.error("the decider was taken")
        self.markers_arrive()
        pointer = ask.pointer
        if ask.decision is not None:
            self._check_order(ask.decision)
            self.topic.append(ask.decision)
            mending = bool(ask.decision.lost)
            pointer = pointer.decided(ask.decision.batch, len(self.topic) - 1, ask.writer, mending=mending)
        self.unseen, self.has_decided = pointer, True
        return pointer

    def _check_order(self, decision: Decision) -> None:
        """A batch is decided once, but for what of it was lost."""
        newest = self.topic[-1] if self.topic else None
        if newest is None or newest.batch < decision.batch:
            return
        if newest.batch > decision.batch or not (newest.lost or decision.lost):
            raise WrongTurn(f"batch {decision.batch} was decided before")
        lost = {(each.rows, each.digest) for each in newest.lost}
        if not decision.lost and not {(each.rows, each.digest) for each in decision.participants} <= lost:
            raise WrongTurn(f"what is written again of batch {decision.batch} was not lost")

    def _finish(self, name: str, identity: ProducerIdentity) -> bool:
        holding, decision = self.holdings[name], self.decided.get((name, identity))
        if decision is None:
            raise WrongTurn(f"{name} is committed, and nobody decided so")
        if holding.identity != identity:
            if decision is self.topic[-1] and not self.has_timeouts:
                raise WrongTurn(f"{name} was decided, and is lost")
            return False
        if holding.state == "Ongoing":
            holding.state = "CompleteCommit"
            self.rows.update(holding.rows)
        return holding.state == "CompleteCommit"

    def _initiate(self, name: str) -> ProducerIdentity:
        holding = self.holdings.get(name)
        if holding is None:
            identity = ProducerIdentity(next(self._producer_ids), 0)
        else:
            if holding.state == "Ongoing" and (name, holding.identity) in self.decided:
                raise WrongTurn(f"{name} was decided, and is aborted")
            identity = ProducerIdentity(holding.identity.id, holding.identity.epoch + 1)
        self.holdings[name] = Holding(identity)
        return identity

    def _write(self, name: str, identity: ProducerIdentity, row: Row) -> None:
        holding = self.holdings[name]
        if holding.identity != identity or holding.state.startswith("Complete"):
            raise ErrorCode.PRODUCER_FENCED.error(name)
        holding.state = "Ongoing"
        holding.rows.append(row)


class Process(ParticipantNames):
    """A worker of Spark, which knows what it is doing."""

    task = 0


class Told(NamedTuple):
    """What a task tells its driver."""

    term: str | None  # None: it was decided already
    participant: Participant | None


def task(write: BatchWrite, number: int, rows: Sequence[Row], process: Process) -> Procedure[Told]:
    """A task as participants.py has it, with the rows one by one."""
    pointer: Pointer | None = yield from commit_protocol.admit(write, first=number == 0)
    if pointer is None:
        return Told(None, None)
    if not rows:
        return Told(pointer.term, None)
    process.task = number
    name = process.next_name(write.sink, pointer, write.batch)
    transactional_id = participant_id(write.sink, pointer.term, name)
    identity: ProducerIdentity = yield Initiate(transactional_id)
    for row in rows:
        yield WriteRow(transactional_id, identity, row)
    wanted = yield from commit_protocol.is_wanted(write, pointer.term)
    if not wanted:
        yield ledger_request.AbortTransaction(transactional_id)
        raise SinkError("not wanted any more")
    return Told(pointer.term, Participant(name, identity, len(rows), f"digest of {rows}"))


def prepared(told: Sequence[Told]) -> PreparedBatch:
    return PreparedBatch(
        [each.participant for each in told if each.participant is not None],
        {each.term for each in told if each.term is not None},
        skipped=any(each.term is None for each in told),
    )


class Actor:
    """A procedure under way in a process of its own."""

    def __init__(self, run: Run, procedure: Generator[Any, Any, Any], number: int | None) -> None:
        self.run, self.number, self.batch = run, number, run.batch
        self._course = procedure
        self._ask: Any = None
        self._send: Any = None
        self._error: BaseException | None = None
        self.done = False
        self.result: Any = None
        self.failed = False
        self._resume()

    def step(self, cluster: Cluster, times: int = 1) -> None:
        """Do what it asked for, more than once if the answer got lost on the way, and let it go on."""
        self._error = None
        for _ in range(times):
            try:
                self._send = cluster.answer(self._ask)
            except Fenced as error:
                self._error = error
        self._resume()

    def act(self, cluster: Cluster) -> None:
        """Do what it asked for; it will never know."""
        with contextlib.suppress(Fenced):
            cluster.answer(self._ask)

    @property
    def repeatable(self) -> bool:
        """Whether a client would simply ask again if it heard nothing."""
        return isinstance(
            self._ask,
            ledger_request.AcquireDecider
            | ledger_request.CommitParticipant
            | ledger_request.AbortTransaction
            | Initiate,
        )

    def _resume(self) -> None:
        try:
            if self._error is not None:
                self._ask = self._course.throw(self._error)
            else:
                self._ask = self._course.send(self._send)
        except StopIteration as end:
            self.done, self.result = True, end.value
        except (SinkError, Fenced):
            self.done = self.failed = True


class Run:
    """One start of the query: batches from where the checkpoint is, with so many tasks each."""

    def __init__(self, spark: Spark, name: str, tasks: int) -> None:
        self.spark, self.name, self.tasks = spark, name, tasks
        self.batch = spark.committed + 1
        self.over = False
        self.failures = 0
        self.told: dict[int, Told] = {}
        self.attempts: list[Actor] = []
        self.driver: Actor | None = None
        self.idle: list[Process] = []
        self._workers = itertools.count()
        self._processes: dict[Actor, Process] = {}
        self._launch_all()

    @property
    def actors(self) -> list[Actor]:
        return [each for each in (*self.attempts, self.driver) if each is not None and not each.done]

    def launch(self, number: int) -> None:
        """Another attempt of a task, in a process that has nothing to do or in a new one."""
        process = self.idle.pop() if self.idle else Process(f"{self.name}-{next(self._workers)}")
        write = BatchWrite(SINK, self.batch, self.name)
        actor = Actor(
            self, task(write, number, self.spark.rows(self.batch, number, self.tasks), process), number
        )
        self._processes[actor] = process
        self.attempts.append(actor)

    def noticed(self, actor: Actor) -> None:
        """What Spark does when a procedure has ended."""
        if actor is self.driver:
            self._driver_done(actor)
            return
        self.attempts.remove(actor)
        process = self._processes.pop(actor)
        if not actor.failed:
            self.idle.append(process)
        if self.driver is not None or self.over or actor.number is None or actor.batch != self.batch:
            return
        if actor.failed:
            self.failures += 1
            self.launch(actor.number) if self.failures < FAILURES_MAX else self.fail()
        elif isinstance(actor.result, Told):
            self.told.setdefault(actor.number, actor.result)
            if len(self.told) == self.tasks:
                write = BatchWrite(SINK, self.batch, self.name)
                self.driver = Actor(
                    self, commit_protocol.decide(write, prepared([*self.told.values()])), None
                )

    def crash(self, actor: Actor) -> None:
        """A process dies; Spark tries a task again, and does not outlive its driver."""
        actor.done = actor.failed = True
        if actor is self.driver:
            self.over, self.attempts = True, []
        else:
            self.noticed(actor)

    def fail(self) -> None:
        """The batch fails, and with it the run."""
        if not self.over:
            self.over = True
            write = BatchWrite(SINK, self.batch, self.name)
            self.driver = Actor(self, commit_protocol.undo(write, prepared([*self.told.values()])), None)

    def _driver_done(self, actor: Actor) -> None:
        self.driver = None
        if self.over:
            return
        if actor.failed:
            self.fail()
            return
        if self.spark.committed + 1 == self.batch:
            self.spark.committed = self.batch
        self.batch += 1
        if self.spark.committed >= self.batch or self.batch >= self.spark.batches:
            self.over = True  # another run was faster: Spark finds its own log written
            return
        self.told, self.failures = {}, 0
        self._launch_all()

    def _launch_all(self) -> None:
        for number in range(self.tasks):
            self.launch(number)


class Spark:
    """The runs of one query over one checkpoint."""

    def __init__(self, batches: int, rows_per_batch: int = 3, tasks: int = 2) -> None:
        self.batches, self.rows_per_batch = batches, rows_per_batch
        self.tasks = tasks  # of the run that finishes
        self.committed = -1  # Spark's own commit log
        self.runs: list[Run] = []
        self.cluster = Cluster()

    def rows(self, batch: int, number: int, tasks: int) -> list[Row]:
        return [(batch, each) for each in range(number, self.rows_per_batch, tasks)]

    def start(self, tasks: int) -> Run:
        run = Run(self, f"run{len(self.runs)}", tasks)
        self.runs.append(run)
        return run

    @property
    def actors(self) -> list[Actor]:
        return [actor for run in self.runs for actor in run.actors]

    def step(self, actor: Actor, times: int = 1) -> None:
        actor.step(self.cluster, times)
        if actor.done:
            actor.run.noticed(actor)

    def finish(self) -> None:
        """Let all that still runs end, then the query itself, then a run that finds nothing to do but to tidy up."""
        self._exhaust()
        while self.committed < self.batches - 1:
            before = len(self.runs)
            assert before < 200, "a run alone makes progress"
            self.start(self.tasks)
            self._exhaust()
        procedure = commit_protocol.register(BatchWrite(SINK, self.batches, "tidy"))
        answer = None
        try:
            while True:
                answer = self.cluster.answer(procedure.send(answer))
        except StopIteration:
            pass

    def check(self) -> None:
        """Each row of each batch is there once, and nothing is left open."""
        expected = {(batch, row): 1 for batch in range(self.batches) for row in range(self.rows_per_batch)}
        assert self.cluster.rows == expected
        assert self.cluster.open_ids() == []

    def _exhaust(self) -> None:
        for _ in range(5000):
            actors = self.actors
            if not actors:
                return
            self.cluster.markers_arrive()
            self.step(actors[0])
        raise AssertionError("it comes to no end")
