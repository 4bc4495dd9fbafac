"""The names of participants: what a process calls the transactions of its tasks, as no other process does.

    andiron-spark-<query>/<term>/<worker>.<slot>.<turn>

A Python worker of Spark runs one task at a time, but several of one batch after another, each with a transaction that
stays open until the batch is decided. So within a batch each task gets the next slot, and the next batch begins
with the first again: as many transactional ids as are open at a time, however long a query runs.

The law: a name is used again only when what was written under it is over. Within a term batches follow each other,
and the driver goes on to the next one when the last one is finished; hence a task of an earlier batch than the newest
seen here is one that nobody waits for. And names change with the turn, so that those of the newest decision are left
alone while the next batch is written: how they ended can be told until then.

Read next: commit_protocol.py, whose third rule this is.
"""

from __future__ import annotations

from andiron.spark.sink.decision import Pointer, Sink, SinkError


class ParticipantNames:
    """The names that one process has given to the transactions of its tasks."""

    def __init__(self, worker: str) -> None:
        self.worker = worker
        self._last: dict[Sink, tuple[str, int, int]] = {}  # term, batch, slot

    def next_name(self, sink: Sink, pointer: Pointer, batch: int) -> str:
        """The name for the transaction of the next task of a batch."""
        term, newest, slot = self._last.get(sink, ("", batch, 0))
        if term != pointer.term or newest < batch:
            slot = 0
        elif newest == batch:
            slot += 1
        else:
            raise SinkError(f"{sink}: a task of batch {batch} comes too late, {newest} is being written")
        self._last[sink] = (pointer.term, batch, slot)
        return f"{self.worker}.{slot}.{pointer.turn}"
