"""The commit protocol of the exactly-once sink: transactions of tasks, and one decision for a micro-batch.

    task     admit ─▶ its own transaction: write, flush ─▶ prepared, tell the driver         (task_transaction.py)
    driver   decide: take the decider, look, ─▶ ONE transaction: record + pointer ─▶ commit each participant
             ▲ before it nothing counts                                          ▲ from here on the batch counts
    a new run registers first: commits what was decided, aborts what was not, and only then writes

Spark tells each task which query, batch and run it belongs to. Runs change with every start of the query, and the
old one may still be alive: tasks that nobody waits for any more, a driver that was cut off. So nothing is done by
the clock. Four rules make it safe:

1. Whoever changes something takes the *decider* first, a transactional id of the sink's own: a new identity, by
   which whatever another holder had begun is aborted. Then it looks at the pointer, and writes under that identity.
   If that succeeds, nobody else has changed anything since it looked. A look without the decider is a hint.
2. A run registers before it writes: the pointer names it, and a *term* that never comes again. A decision is made by
   the run and in the term that the pointer names, and of participants of that term. A run that was superseded
   does not come back.
3. A participant is a transactional id that one process alone uses, for one task at a time. Attempts of a task do not
   fence each other, be they speculative, retried or forgotten: the decision says which of them counted.
4. What was open before a change of the pointer, and is not part of the newest decision, is nobody's and is aborted
   after it. What was decided is committed before another run registers, and before the driver goes on.

Committing what was decided may be done by anybody, any number of times. A batch that was decided is never written
again: its tasks read their rows, for the state that hangs on it, and drop them.

Without two-phase commit a participant has a timeout, and may be aborted although it was decided. Whoever registers next
finds that, and notes it in a decision of the same batch that names what is lost: the batch is *mending*. Spark runs it
again, since its own log does not have it; its tasks write their rows anew, and of what they have prepared that is
decided which has the digest of something lost. The rest of the batch is there already, and what they wrote of it
is aborted. A batch that is not the same when it is run again cannot be mended, which is said aloud.

This module does nothing by itself. A `Procedure` asks for one thing after another (ledger_request.py) and is told what
came of it: ledger.py asks a cluster, the tests a model that crashes everywhere.

Read next: decision.py for what is written, decision_outcome.py, ledger_request.py, ledger.py, task_transaction.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from andiron.client.core.outbox import ProducerIdentity
from andiron.model.errors import Fenced
from andiron.spark.sink.decision import Decision, Participant, Pointer, Sink, SinkError, term_of
from andiron.spark.sink.decision_outcome import DecisionOutcome, finish, finish_newest, mended, terminate
from andiron.spark.sink.ledger_request import (
    AbortTransaction,
    AcquireDecider,
    FindDecision,
    GroupOffsets,
    HasDecided,
    ListOpen,
    Pause,
    Procedure,
    ReachStep,
    ReadPointer,
    WritePointer,
)

ATTEMPTS = 10  # attempts to take the decider while others take it
WAITS = 8  # for the first task of a run to register: some seconds
MARKER_WAITS = 30  # for a decision to be seen by all: most of a minute


# ── tasks ────────────────────────────────────────────────────────────────────────────


class BatchWrite(NamedTuple):
    """One batch that one run of a query is to write to a sink."""

    sink: Sink
    batch: int
    run: str
    writer: str = ""  # where a run may write the same batch again: which of its writes


def admit(write: BatchWrite, *, first: bool, forgiving: bool = False) -> Procedure[Pointer | None]:
    """The pointer under which a task may write its rows; None if the batch is decided already.

    The `first` task registers its run, and the others give it time to: they would fence each other.
    """
    pointer: Pointer | None = yield ReadPointer(write.sink)
    waits = 0 if first else WAITS
    for times in range(waits):
        if pointer is not None and pointer.run == write.run:
            break
        _check_current(write.sink, write.run, pointer)
        yield Pause(times)
        pointer = yield ReadPointer(write.sink)
    if pointer is None or pointer.run != write.run:
        pointer = yield from register(write, forgiving=forgiving)
    return None if is_decided(write, pointer) else pointer


def is_wanted(write: BatchWrite, term: str) -> Procedure[bool]:
    """Whether a task's prepared transaction may still be decided. If not, the task aborts it."""
    pointer: Pointer | None = yield ReadPointer(write.sink)
    return pointer is not None and pointer.term == term and pointer.awaits(write.batch)


def register(write: BatchWrite, *, forgiving: bool = False) -> Procedure[Pointer]:
    """Make this the run of the query that may write and decide; what earlier runs left is finished or aborted."""
    sink, run = write.sink, write.run
    for times in range(ATTEMPTS):
        seen: Pointer | None = yield ReadPointer(sink)
        had_decided: bool = False if seen else (yield HasDecided(sink))
        _check_current(sink, run, seen)
        try:
            identity: ProducerIdentity = yield AcquireDecider(sink)
            pointer: Pointer = yield from _read_or_find_pointer(sink, had_decided)
            if pointer.run == run:
                return pointer
            _check_current(sink, run, pointer)
            open_ids: dict[str, int] = yield ListOpen(sink)
            finished = yield from _finish_newest(write, pointer, open_ids, forgiving=forgiving)
            anew = replace(pointer, mending=pointer.mending and not forgiving)
            registered: Pointer = yield WritePointer(
                sink, identity, anew.registered(run, term_of(identity)), finished.mending
            )
        except Fenced:
            yield Pause(times)
            continue
        yield from terminate(open_ids, finished.ids)
        return registered
    raise SinkError(f"{sink}: run {run} could not register, since others did all the time; start it again")


# ── the driver ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """The prepared transactions of all tasks of a batch, and offsets of groups that are to be committed with it."""

    participants: Sequence[Participant]
    terms: Collection[str]  # under which they, and those that had nothing to write, were admitted
    skipped: bool = False  # some found the batch decided, and wrote nothing
    rows: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, GroupOffsets] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        return not self.participants and not self.groups


def decide(write: BatchWrite, prepared: PreparedBatch, *, forgiving: bool = False) -> Procedure[None]:
    """Decide a batch, once: record and pointer in one transaction; return when every participant is committed."""
    sink, batch = write.sink, write.batch
    for times in range(ATTEMPTS):
        seen: Pointer | None = yield ReadPointer(sink)
        if is_decided(write, seen):
            yield from settle(write, forgiving=forgiving)
            return
        _check_may_decide(write, seen, prepared)
        if prepared.is_nothing and seen is not None and not seen.mending:
            return
        yield ReachStep("before_decision", batch)
        try:
            identity: ProducerIdentity = yield AcquireDecider(sink)
            pointer: Pointer | None = yield ReadPointer(sink)
            if is_decided(write, pointer):
                continue
            _check_may_decide(write, pointer, prepared)
            assert pointer is not None
            open_ids: dict[str, int] = yield ListOpen(sink)
            decision = Decision(
                batch, write.run, pointer.term, tuple(prepared.participants), dict(prepared.rows)
            )
            if pointer.mending:
                decision = yield from mended(sink, pointer, decision)
            _check_open(sink, decision, open_ids)
            yield WritePointer(sink, identity, pointer, decision, write.writer, prepared.groups)
        except Fenced:
            yield Pause(times)
            continue
        yield ReachStep("after_decision", batch)
        finished = yield from finish(sink, decision, replayed=False, forgiving=forgiving)
        finished.check()
        yield from terminate(open_ids, finished.ids)
        yield from _await_pointer(sink, batch)
        yield ReachStep("after_commit", batch)
        return
    raise SinkError(f"{sink}: batch {batch} could not be decided, since others were at it; start it again")


def settle(write: BatchWrite, *, forgiving: bool = False) -> Procedure[None]:
    """Commit the participants of the newest decision, as far as that was not done."""
    pointer: Pointer | None = yield ReadPointer(write.sink)
    if pointer is not None:
        open_ids: dict[str, int] = yield ListOpen(write.sink)
        finished = yield from _finish_newest(write, pointer, open_ids, forgiving=forgiving)
        finished.check()


def undo(write: BatchWrite, prepared: PreparedBatch) -> Procedure[None]:
    """Abort the prepared transactions of a batch, unless it was decided after all."""
    pointer: Pointer | None = yield ReadPointer(write.sink)
    if _may_undo(write, prepared, pointer):
        yield AcquireDecider(write.sink)  # the decider is taken, so no decision under way can be committed
        pointer = yield ReadPointer(write.sink)
        if _may_undo(write, prepared, pointer):
            assert pointer is not None
            for each in prepared.participants:
                yield AbortTransaction(each.transactional_id(write.sink, pointer.term))


# ── checks ───────────────────────────────────────────────────────────────────────────


def is_decided(write: BatchWrite, pointer: Pointer | None) -> bool:
    """Whether the batch was decided already; raises where it cannot be the same batch."""
    if pointer is None:
        return False
    if pointer.mending and pointer.batch < write.batch:
        raise SinkError(
            f"{write.sink}: rows of batch {pointer.batch} were lost and are to be written again, and the query goes on "
            f"with batch {write.batch}: was its checkpoint changed? To go on without them, say failOnDataLoss=false"
        )
    if pointer.awaits(write.batch):
        return False
    if pointer.batch > write.batch:
        raise SinkError(
            f"{write.sink}: batch {write.batch} is to be written, and {pointer.batch} was already: the checkpoint "
            "is older than the output (restored, or copied?); start the query with a new checkpointLocation"
        )
    if write.writer and pointer.decided_by == write.run and pointer.writer != write.writer:
        raise SinkError(
            f"{write.sink}: batch {write.batch} is written twice in one run; give each write in foreachBatch "
            "a sink.id of its own"
        )
    return True


def _check_current(sink: Sink, run: str, pointer: Pointer | None) -> None:
    if pointer is not None and run in pointer.before:
        raise SinkError(
            f"{sink}: run {run} was superseded by run {pointer.run}; two runs of one query cannot "
            "write at the same time (is the query started twice, or its checkpoint copied?)"
        )


def _check_may_decide(write: BatchWrite, pointer: Pointer | None, prepared: PreparedBatch) -> None:
    _check_current(write.sink, write.run, pointer)
    terms = sorted(prepared.terms)
    if prepared.skipped:
        raise SinkError(
            f"{write.sink}: batch {write.batch} was decided when it was written, and is not any more: has somebody "
            f"deleted the group {write.sink.decider!r}? Nothing was written; start the query again"
        )
    if pointer is None or pointer.run != write.run or terms != [pointer.term]:
        raise SinkError(
            f"{write.sink}: batch {write.batch} was written by run {write.run} in term {', '.join(terms)}, which is "
            "over; nothing of it counts, start the query again to write it anew"
        )


def _may_undo(write: BatchWrite, prepared: PreparedBatch, pointer: Pointer | None) -> bool:
    return pointer is not None and {*prepared.terms} == {pointer.term} and pointer.awaits(write.batch)


def _check_open(sink: Sink, decision: Decision, open_ids: Mapping[str, int]) -> None:
    for each in decision.participants:
        name = each.transactional_id(sink, decision.term)
        if open_ids.get(name) != each.identity.id:
            raise SinkError(
                f"{sink}: transaction {name!r} of batch {decision.batch} was aborted before the batch was "
                "complete (by an administrator, or by its timeout where the broker does not have two-phase "
                "commit); nothing of the batch counts, start the query again to write it anew"
            )


# ── parts of the procedures ──────────────────────────────────────────────────────────


def _read_or_find_pointer(sink: Sink, had_decided: bool) -> Procedure[Pointer]:
    """The pointer, read by the holder of the decider; where it has expired, found again in the topic."""
    pointer: Pointer | None = yield ReadPointer(sink)
    if pointer is not None:
        return pointer
    found: tuple[int, Decision] | None = yield FindDecision(sink)
    if found is not None:
        return Pointer.found(*found)
    if had_decided:
        raise SinkError(
            f"{sink}: it has made decisions, and they are gone (was the topic of decisions deleted?); look at what "
            "the last batch wrote, then start with a new checkpointLocation or with another sink.id"
        )
    return Pointer()


def _finish_newest(
    write: BatchWrite, pointer: Pointer, open_ids: Collection[str], *, forgiving: bool
) -> Procedure[DecisionOutcome]:
    """Commit what the newest decision says; if it is on the batch that is to be written, Spark runs that again."""
    replayed = pointer.batch == write.batch
    return (yield from finish_newest(write.sink, pointer, open_ids, replayed=replayed, forgiving=forgiving))


def _await_pointer(sink: Sink, batch: int) -> Procedure[None]:
    """A transaction is decided before its markers are everywhere, and tasks that look next must see it."""
    for times in range(MARKER_WAITS):
        pointer: Pointer | None = yield ReadPointer(sink)
        if pointer is not None and not pointer.awaits(batch):
            return
        yield Pause(times)
    raise SinkError(
        f"{sink}: batch {batch} counts, but the group {sink.decider!r} does not show it; the broker seems to be in "
        "trouble, start the query again"
    )
