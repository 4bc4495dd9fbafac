"""Before a transaction's first batch is written here: has the coordinator heard of it?

A batch that comes late, after its transaction was ended, would open it again in this partition, and
nobody would ever end it: it would hang, and hold up every reader of committed records. So the
first batch of a transaction waits until the coordinator says that this partition is part of it.

    begin ──▶ guard ──▶ the coordinator is asked ──▶ append(…, guard)
                │                                       is it still the one? else INVALID_TXN_STATE
                │── a marker of the producer comes in between: the guard counts no more
                └── the partition is led elsewhere in between: nor does it then, but to ask again helps

While the question is out, further batches may be refused and come again out of turn. The guard
remembers the lowest sequence that it has seen, so that of a producer not known here yet none
is taken before that one.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.records.batch import Batch

NO_SEQUENCE = -1


class Guard:
    """A question to the coordinator about one producer and epoch."""

    __slots__ = ("epoch", "kept_by", "lowest_sequence")

    def __init__(self, epoch: int, sequence: int, kept_by: Guards) -> None:
        self.epoch, self.lowest_sequence, self.kept_by = epoch, sequence, kept_by


class Guards:
    """The questions that are open in one partition while this node leads it, by producer."""

    __slots__ = ("_guards",)

    def __init__(self) -> None:
        self._guards: dict[int, Guard] = {}

    def __len__(self) -> int:
        return len(self._guards)

    def begin(self, producer_id: int, epoch: int, sequence: int = NO_SEQUENCE) -> Guard:
        """Ask about a producer that wants to write; the same guard for all its batches while it is asked.

        One of an older epoch has been replaced: its guard is good for nothing, and leaves its successor's alone.
        """
        guard = self._guards.get(producer_id)
        if guard is not None and epoch < guard.epoch:
            return Guard(epoch, sequence, self)
        if guard is None or guard.epoch != epoch:
            guard = self._guards[producer_id] = Guard(epoch, sequence, self)
        guard.lowest_sequence = min(guard.lowest_sequence, sequence)
        return guard

    def check(self, producer_id: int, guard: Guard | None) -> None:
        """Refuse a first write about which the coordinator was not asked, or not since the last marker."""
        if guard is not None and guard.kept_by is not self:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(
                "another broker led it while the coordinator was asked"
            )
        if guard is None or self._guards.get(producer_id) is not guard:
            raise ErrorCode.INVALID_TXN_STATE.error(
                f"producer {producer_id} has no transaction here that its coordinator knows of"
            )

    def check_turn(self, batch: Batch, guard: Guard) -> None:
        """Refuse a batch of a producer not known here that is not the first of those it has sent."""
        if batch.base_sequence > guard.lowest_sequence:
            raise ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.error(
                f"producer {batch.producer_id} sends sequence {batch.base_sequence} before "
                f"{guard.lowest_sequence}"
            )

    def end(self, producer_id: int, guard: Guard | None = None) -> None:
        """The question is settled, or has lost its point; only this one, if it is named."""
        if guard is None or self._guards.get(producer_id) is guard:
            self._guards.pop(producer_id, None)
