"""Which records of a log count: transactions as a reader who goes through all of it finds them.

    7 writes · 9 writes · 7 writes · COMMIT 7 · 9 writes …
    counts     open       counts     a marker   open         stable: up to the first record that is open

Kept beside each mirror, batch by batch, and by no means of the node's own: what it says of its last
stable offset, and which transactions it tells readers to skip, is held against this.

Read next: invariants/isolation.py, invariants/atomicity.py.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from andiron.sim.mirror import StoredBatch


class Verdict(enum.Enum):
    """What became of a batch."""

    PLAIN = "is in no transaction"
    OPEN = "is undecided"
    COMMITTED = "is committed"
    ABORTED = "is aborted"
    MARKER = "is a marker"


class Verdicts:
    """The verdicts on the batches of one log, by their base offsets."""

    def __init__(self, batches: Iterable[StoredBatch] = ()) -> None:
        self._verdicts: dict[int, Verdict] = {}
        self._open: dict[int, list[int]] = {}  # by producer: the batches of its open transaction
        self.decides: dict[int, tuple[int, ...]] = {}  # by marker: the batches that it decides about
        for stored in batches:
            self.add(stored)

    def add(self, stored: StoredBatch) -> None:
        """A batch more."""
        base, producer_id = stored.base, stored.producer[0]
        if stored.marker is not None:
            decided = self._open.pop(producer_id, [])
            verdict = Verdict.COMMITTED if stored.marker else Verdict.ABORTED
            self._verdicts |= dict.fromkeys(decided, verdict)
            self._verdicts[base] = Verdict.MARKER
            self.decides[base] = tuple(decided)
        elif stored.transactional:
            self._open.setdefault(producer_id, []).append(base)
            self._verdicts[base] = Verdict.OPEN
        else:
            self._verdicts[base] = Verdict.PLAIN

    def of(self, base: int) -> Verdict:
        """The verdict on the batch that begins there."""
        return self._verdicts[base]

    def first_open(self) -> int | None:
        """Where the oldest open transaction begins."""
        return min((bases[0] for bases in self._open.values()), default=None)

    def undecided(self) -> list[int]:
        """The batches of open transactions."""
        return [base for bases in self._open.values() for base in bases]

    def writers(self) -> list[int]:
        """The producers that have a transaction open."""
        return list(self._open)
