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

A producer that was told to try again may never do so. What was asked about it is forgotten with
producers that have fallen silent, after producer.id.expiration.ms, as in Kafka.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.model.ids import Millis
from andiron.records.batch import Batch

NO_SEQUENCE = -1


class VerificationGuard:
    """A question to the coordinator about one producer and epoch."""

    __slots__ = ("asked_at", "epoch", "kept_by", "lowest_sequence")

    def __init__(self, epoch: int, sequence: int, kept_by: VerificationGuards, asked_at: Millis) -> None:
        self.epoch, self.lowest_sequence, self.kept_by, self.asked_at = epoch, sequence, kept_by, asked_at


class VerificationGuards:
    """The questions that are open in one partition while this node leads it, by producer."""

    __slots__ = ("_guards",)

    def __init__(self) -> None:
        self._guards: dict[int, VerificationGuard] = {}

    def __len__(self) -> int:
        return len(self._guards)

    def begin(
        self, producer_id: int, epoch: int, sequence: int = NO_SEQUENCE, now: Millis = Millis(0)
    ) -> VerificationGuard:
        """Ask about a producer that wants to write; the same guard for all its batches while it is asked.

        One of an older epoch has been replaced: its guard is good for nothing, and leaves its successor's alone.
        """
        guard = self._guards.get(producer_id)
        if guard is not None and epoch < guard.epoch:
            return VerificationGuard(epoch, sequence, self, now)
        if guard is None or guard.epoch != epoch:
            guard = self._guards[producer_id] = VerificationGuard(epoch, sequence, self, now)
        guard.asked_at = now
        guard.lowest_sequence = min(guard.lowest_sequence, sequence)
        return guard

    def check(self, producer_id: int, guard: VerificationGuard | None) -> None:
        """Refuse a first write about which the coordinator was not asked, or not since the last marker."""
        if guard is not None and guard.kept_by is not self:
            raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(
                "another broker led it while the coordinator was asked"
            )
        if guard is None or self._guards.get(producer_id) is not guard:
            raise ErrorCode.INVALID_TXN_STATE.error(
                f"producer {producer_id} has no transaction here that its coordinator knows of"
            )

    def check_turn(self, batch: Batch, guard: VerificationGuard) -> None:
        """Refuse a batch of a producer not known here that is not the first of those it has sent."""
        if batch.base_sequence > guard.lowest_sequence:
            raise ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER.error(
                f"producer {batch.producer_id} sends sequence {batch.base_sequence} before "
                f"{guard.lowest_sequence}"
            )

    def end(self, producer_id: int, guard: VerificationGuard | None = None) -> None:
        """The question is settled, or has lost its point; only this one, if it is named."""
        if guard is None or self._guards.get(producer_id) is guard:
            self._guards.pop(producer_id, None)

    def expire(self, now: Millis, expiration_ms: int) -> None:
        """Forget what was asked so long ago: nobody has come back with the answer."""
        for producer_id in [id for id, each in self._guards.items() if now - each.asked_at >= expiration_ms]:
            del self._guards[producer_id]
