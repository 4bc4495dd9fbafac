"""The outcome of a decision: its participants are committed, and what is lost is found again when written anew.

    decision    a, b, c ─▶ commit each ─▶ a, c are there; b was aborted by its timeout
    mending     batch 42, lost: b       ─▶ the batch is run again: a', b', c' are prepared
    decision    batch 42: b'            ─▶ it has the digest of b; a' and c' are aborted

With two-phase commit nothing that was decided is lost, unless an administrator aborts it.

Read next: commit_protocol.py, which says when this is done, and by whom.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from andiron.spark.sink.decision import Decision, Participant, Pointer, Sink, SinkError
from andiron.spark.sink.ledger_request import (
    AbortTransaction,
    CommitParticipant,
    Procedure,
    ReachStep,
    ReadDecision,
    ReadPointer,
)


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """The outcome of a decision: which of its participants are committed, and which are lost."""

    sink: Sink
    decision: Decision | None = None
    ids: Collection[str] = ()  # of those that are committed
    lost: tuple[Participant, ...] = ()

    @property
    def mending(self) -> Decision | None:
        """The decision that names what is to be written again; raises where that cannot be."""
        if self.decision is None or not self.lost:
            return None
        if not all(each.digest for each in self.lost):
            self.check()
        return replace(self.decision, participants=(), lost=self.lost)

    def check(self) -> None:
        """Raise if a participant was aborted although it was decided."""
        if self.decision is None or not self.lost:
            return
        decision, first = self.decision, self.lost[0]
        name, rows = first.transactional_id(self.sink, decision.term), sum(each.rows for each in self.lost)
        if first.digest:
            raise SinkError(
                f"{self.sink}: batch {decision.batch} counts, but transaction {name!r} was aborted by its timeout "
                f"before it could be committed; start the query again, which writes these {rows} rows again"
            )
        raise SinkError(
            f"{self.sink}: batch {decision.batch} counts, and {rows} rows of it are lost: transaction {name!r} "
            "was aborted before it could be committed, by an administrator perhaps. To go on without these rows, say "
            "failOnDataLoss=false"
        )


def finish_newest(
    sink: Sink, pointer: Pointer, open_ids: Collection[str], *, replayed: bool, forgiving: bool
) -> Procedure[DecisionOutcome]:
    """Commit the participants of the newest decision."""
    if pointer.batch < 0:
        return DecisionOutcome(sink)
    decision: Decision | None = yield ReadDecision(sink, pointer.offset)
    if decision is not None:
        return (yield from finish(sink, decision, replayed=replayed, forgiving=forgiving))
    if open_ids:
        raise SinkError(
            f"{sink}: the decision on batch {pointer.batch} is gone from its topic (offset {pointer.offset}), and "
            f"transactions are open that may be part of it, {min(open_ids)!r} for one; end them by "
            "`andiron transaction`, and start the query again"
        )
    return DecisionOutcome(sink)


def finish(sink: Sink, decision: Decision, *, replayed: bool, forgiving: bool) -> Procedure[DecisionOutcome]:
    """Commit the participants of a decision; `replayed` says that Spark does not know whether its batch is done."""
    done: list[str] = []
    lost: list[Participant] = []
    for each in decision.participants:
        name = each.transactional_id(sink, decision.term)
        if done or lost:
            yield ReachStep("between_participants", decision.batch)
        kept: bool | None = yield CommitParticipant(name, each.identity)
        if kept is None and each.digest and replayed and not forgiving:
            raise SinkError(
                f"{sink}: nobody knows any more whether {each.rows} rows of batch {decision.batch} were committed or "
                f"aborted by a timeout: transaction {name!r} ended too long ago. Look whether they are there; if they "
                "are, or may be missing, say failOnDataLoss=false"
            )
        if kept is False and not forgiving:
            newest: Pointer | None = yield ReadPointer(sink)
            if newest is not None and newest.batch > decision.batch:
                break  # by others, long ago: the next one is decided when this one is finished
            lost.append(each)
        else:
            done.append(name)
    return DecisionOutcome(sink, decision, done, tuple(lost))


def mended(sink: Sink, pointer: Pointer, anew: Decision) -> Procedure[Decision]:
    """Of the participants of a batch that was run again, those with the digest of one that was lost."""
    before: Decision | None = yield ReadDecision(sink, pointer.offset)
    left, chosen = list(anew.participants), []
    for lost in before.lost if before is not None else ():
        same = [each for each in left if (each.rows, each.digest) == (lost.rows, lost.digest)]
        if not same:
            raise SinkError(
                f"{sink}: batch {anew.batch} counts, and {lost.rows} rows of it are lost: their transaction was "
                "aborted by its timeout, and when the batch was run again no task had the same rows in the same "
                "order. To go on without them, say failOnDataLoss=false; a longer kafka.transaction.timeout.ms makes "
                "it less likely"
            )
        left.remove(same[0])
        chosen.append(same[0])
    if not chosen:
        raise SinkError(
            f"{sink}: the record that says what batch {anew.batch} has lost is gone from its topic "
            f"(offset {pointer.offset}); to go on without these rows, say failOnDataLoss=false"
        )
    assert before is not None, "it has named what is lost"
    return replace(anew, participants=tuple(chosen), rows=before.rows)


def terminate(open_ids: Collection[str], decided: Collection[str]) -> Procedure[None]:
    """Abort the open transactions that are no part of the decision."""
    for name in open_ids:
        if name not in decided:
            yield AbortTransaction(name)
