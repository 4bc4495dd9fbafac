"""df.write by itself: a transaction a task, and all of them committed when the last task is done.

    task  ─▶ written, open ┐
    task  ─▶ written, open ┴─▶ driver: close the job ─▶ are all of them still open? ─▶ commit each
    task                                                 ▲ one that is written from here on aborts itself

A job fails when its first task does, while others are still writing, and Spark does not wait for these. So the driver
closes the job (takes its decider, which nobody does before) and only then looks for what is open. A task looks
whether the job is closed when it has written: what the driver did not find, its own task does not leave behind.

Nobody runs such a job again by himself, so there is nothing to remember: no decision, no pointer. Until the last task
is done nothing is seen, and if one fails nothing ever is. A driver that dies in the middle of committing leaves some
of it seen; what is open then is aborted by its timeout.

Read next: commit_protocol.py for what a stream does instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from andiron.spark.sink.decision import Participant, Sink, SinkError
from andiron.spark.sink.ledger_request import (
    AbortTransaction,
    AcquireDecider,
    CommitParticipant,
    IsDeciderTaken,
    ListOpen,
    Procedure,
)

TERM = "job"  # there is only one


def commit_job(job: Sink, participants: Sequence[Participant]) -> Procedure[None]:
    """Commit the transactions of all tasks, or none."""
    yield AcquireDecider(job)
    open_ids: dict[str, int] = yield ListOpen(job)
    names = [each.transactional_id(job, TERM) for each in participants]
    lost = [name for name in names if name not in open_ids]
    if lost:
        raise SinkError(
            f"transaction {lost[0]!r} was aborted before all tasks were done, most likely by its timeout; nothing was "
            "written. Say a longer kafka.transaction.timeout.ms, at most the broker's transaction.max.timeout.ms"
        )
    for done, (name, each) in enumerate(zip(names, participants, strict=True)):
        kept: bool | None = yield CommitParticipant(name, each.identity)
        if kept is False:
            raise SinkError(
                f"transaction {name!r} with {each.rows} rows was aborted by its timeout when {done} of {len(names)} "
                "were committed already: part of the rows is written"
            )
    for name in open_ids:
        if name not in names:
            yield AbortTransaction(name)


def abort_job(job: Sink) -> Procedure[None]:
    """Abort the transactions of all tasks, also of those that still write."""
    yield AcquireDecider(job)
    open_ids: dict[str, int] = yield ListOpen(job)
    for name in open_ids:
        yield AbortTransaction(name)


def is_job_closed(job: Sink) -> Procedure[bool]:
    """Whether the job was committed or aborted, so that nobody will ask for what a task has written."""
    closed: bool = yield IsDeciderTaken(job)
    return closed
