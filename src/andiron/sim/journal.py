"""What transactional producers have undertaken: each transaction, what it was to hold, and how they wished it to end.

    begun ──▶ wishes to commit ──▶ told that it is     then all of it counts, for ever
          │                    └─▶ not told            all of it, or nothing
          └─▶ wishes to abort, or nothing at all       nothing of it

Every transaction moves one reader on: it says that it has read [start, stop) of a partition, and commits that
offset along with what it writes. So those that count must follow one another without a gap, whoever made them.

Read next: clients/transactor.py, which undertakes, and invariants/atomicity.py, which looks what became of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from andiron.model.ids import TopicPartition
from andiron.sim.ledger import Sent


@dataclass(eq=False, slots=True)
class Effort:
    """One transaction, as its producer sees it."""

    number: int
    group: str
    place: TopicPartition  # that it has read from
    start: int
    stop: int
    batches: list[Sent] = field(default_factory=list)
    wish: bool | None = None  # to commit, or to abort
    told: bool | None = None  # that it is so


class Journal:
    """All transactions ever begun."""

    def __init__(self) -> None:
        self.efforts: list[Effort] = []
        self._prepared: dict[tuple[int, int], Effort] = {}

    def begin(self, group: str, place: TopicPartition, start: int, stop: int) -> Effort:
        """A producer begins a transaction."""
        effort = Effort(len(self.efforts) + 1, group, place, start, stop)
        self.efforts.append(effort)
        return effort

    def prepare(self, identity: tuple[int, int], effort: Effort) -> None:
        """Some database remembers that all of it is written, and that it is to be committed."""
        self._prepared[identity] = effort

    def prepared(self, identity: tuple[int, int]) -> Effort | None:
        """What was prepared under an identity."""
        return self._prepared.get(identity)
