"""Leader epochs of a log (KIP-101, KIP-279): which leader wrote from where on, and where two logs part.

    epoch   0          2       3
            ├──────────┼───────┼─────▶
    offset  0          40      55

A leader's term begins at the end of its log. A follower that comes back asks the leader where the
follower's last epoch ended (OffsetForLeaderEpoch); what it has beyond that was never committed, and
it truncates there. So offsets agree if their epochs do.

The table is kept as leader-epoch-checkpoint. Batches carry their epochs too, so after a crash the
scan of the log finds again what the file did not hear of: the file must be written before the
recovery point moves past an entry, and need not be before. It is the only one to know of an epoch of
which compaction has left no batch, or not the first, so a start believes it wherever no batch says otherwise.
For the same reason it must not tell of epochs that were cut off once a leader's batches, which may come
with gaps, stand in their place (`was_cut`).

The law: both columns rise. An entry that would break this replaces those it contradicts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from andiron.log.checkpoints import decode_lines, encode_lines, whole_number
from andiron.model.ids import NO_EPOCH, LeaderEpoch, Offset
from andiron.model.invariant import invariant

NO_OFFSET = Offset(-1)


class EpochEnd(NamedTuple):
    """Where an epoch ended; both -1 if it is not known."""

    epoch: LeaderEpoch
    end: Offset


class LeaderEpochs:
    """The leader epochs of one log, each with its first offset."""

    __slots__ = ("_epochs", "_starts", "changed", "latest", "was_cut")

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self._epochs: list[int] = []
        self._starts: list[int] = []
        self.latest = NO_EPOCH
        self.changed = False  # since it was last written
        self.was_cut = False  # since then: what was written tells of epochs that never were
        for epoch, start in entries:
            self.assign(epoch, start)
        self.note_written()

    def assign(self, epoch: int, start: int) -> None:
        """The leader of `epoch` writes from `start` on; knowing that already is fine."""
        if epoch < 0 or start < 0 or (epoch == self.latest and start >= self._starts[-1]):
            return
        self._cut(min(bisect_left(self._epochs, epoch), bisect_left(self._starts, start)))
        invariant(
            not self._epochs or (self._epochs[-1] < epoch and self._starts[-1] < start),
            "leader epochs and their first offsets rise", self._epochs[-1:], epoch, self._starts[-1:], start,
        )  # fmt: skip
        self._epochs.append(epoch)
        self._starts.append(start)
        self.latest = LeaderEpoch(epoch)
        self.changed = True

    def confirm(self, epoch: int, first: int, last: int) -> None:
        """A batch of `epoch` stands at these offsets: of what the file told, whatever says otherwise is given up."""
        if epoch < 0 or self.epoch_of(first) == epoch == self.epoch_of(last):
            return
        held = self.entries()
        kept: list[tuple[int, int]] = [
            (known, start)
            for known, start in held
            if (known < epoch and start < first)
            or (known == epoch and start <= first)
            or (known > epoch and start > last)
        ]
        was_cut = self.was_cut or len(kept) < len(held)
        if epoch not in (known for known, _ in kept):
            kept = sorted([*kept, (epoch, first)])
        self._cut(0)
        for known, start in kept:
            self.assign(known, start)
        self.was_cut = was_cut

    def epoch_of(self, offset: int) -> LeaderEpoch:
        """The epoch in which a record at `offset` was, or would be, written; -1 if not known."""
        at = bisect_right(self._starts, offset) - 1
        return LeaderEpoch(self._epochs[at]) if at >= 0 else NO_EPOCH

    def end_of(self, epoch: int, log_end: Offset) -> EpochEnd:
        """The largest epoch here that is not above `epoch`, and where it ended."""
        if epoch < 0:
            return EpochEnd(NO_EPOCH, NO_OFFSET)
        if epoch == self.latest:
            return EpochEnd(LeaderEpoch(epoch), log_end)
        higher = bisect_right(self._epochs, epoch)
        if higher == len(self._epochs):
            return EpochEnd(NO_EPOCH, NO_OFFSET)  # from a leader we have not heard of
        known = self._epochs[higher - 1] if higher else epoch
        return EpochEnd(LeaderEpoch(known), Offset(self._starts[higher]))

    def truncate_end(self, end: int) -> None:
        """The log now ends at `end`: epochs that began there or later never were."""
        at = bisect_left(self._starts, end)
        if at < len(self._starts):
            self._cut(at)

    def truncate_start(self, start: int) -> None:
        """The log now starts at `start`: so does the epoch that was under way there."""
        gone = bisect_right(self._starts, start) - 1
        if gone < 0 or (gone == 0 and self._starts[0] == start):
            return
        del self._epochs[:gone], self._starts[:gone]
        self._starts[0] = start
        self.changed = True

    def adopt(self, other: LeaderEpochs) -> None:
        """Know what another log of the same records knows: of some epochs compaction may have left no batch to copy."""
        if self.entries() != other.entries():
            self._epochs, self._starts, self.latest = [*other._epochs], [*other._starts], other.latest
            self.changed = True

    def entries(self) -> list[tuple[LeaderEpoch, Offset]]:
        """(epoch, first offset), the oldest first."""
        return [
            (LeaderEpoch(epoch), Offset(start))
            for epoch, start in zip(self._epochs, self._starts, strict=True)
        ]

    def note_written(self) -> None:
        """The file tells what stands here."""
        self.changed = self.was_cut = False

    def encode(self) -> bytes:
        """The contents of leader-epoch-checkpoint."""
        return encode_lines(f"{epoch} {start}" for epoch, start in self.entries())

    @classmethod
    def decode(cls, data: bytes) -> LeaderEpochs:
        """The table of a file; CheckpointError if it is none."""
        return cls((whole_number(epoch), whole_number(start)) for epoch, start in decode_lines(data, 2))

    def _cut(self, at: int) -> None:
        self.was_cut = self.was_cut or at < len(self._epochs)
        del self._epochs[at:], self._starts[at:]
        self.latest = LeaderEpoch(self._epochs[-1]) if at else NO_EPOCH
        self.changed = True
