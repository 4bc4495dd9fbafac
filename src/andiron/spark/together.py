"""df.write by itself: a transaction a task, and all of them committed when the last task is done.

    task  ─▶ written, open ┐
    task  ─▶ written, open ┴─▶ driver: are all of them still open? ─▶ commit each

Nobody runs such a job again by himself, so there is nothing to remember: no decision, no pointer. Until the last task
is done nothing is seen, and if one fails nothing ever is. A driver that dies in the middle of committing leaves some
of it seen; what is open then is aborted by its timeout.

Read next: commits.py for what a stream does instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from andiron.spark.asks import Course, Finish, Open, Terminate
from andiron.spark.decisions import Participant, Sink, SinkError

TERM = "job"  # there is only one


def commit_all(job: Sink, participants: Sequence[Participant]) -> Course[None]:
    """Commit what all tasks wrote, or nothing."""
    open_ids: dict[str, int] = yield Open(job)
    names = [each.transactional_id(job, TERM) for each in participants]
    lost = [name for name in names if name not in open_ids]
    if lost:
        raise SinkError(
            f"transaction {lost[0]!r} was aborted before all tasks were done, most likely by its timeout; nothing was "
            "written. Say a longer kafka.transaction.timeout.ms, at most the broker's transaction.max.timeout.ms"
        )
    for done, (name, each) in enumerate(zip(names, participants, strict=True)):
        kept: bool = yield Finish(name, each.identity)
        if not kept:
            raise SinkError(
                f"transaction {name!r} with {each.rows} rows was aborted by its timeout when {done} of {len(names)} "
                "were committed already: part of the rows is written"
            )
    yield from abort_all(job, [name for name in open_ids if name not in names])


def abort_all(job: Sink, names: Sequence[str] | None = None) -> Course[None]:
    """Abort some of what the job has open, or all."""
    found: Sequence[str] = [*(yield Open(job))] if names is None else names
    for name in found:
        yield Terminate(name)
