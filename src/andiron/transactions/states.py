"""The states of a transactional id, and which may follow which.

            ┌────────────── InitProducerId ──────────────┐
            ▼                                            │
    ──▶  Empty ──▶ Ongoing ──▶ PrepareCommit ──▶ CompleteCommit ──▶ Ongoing …
            │         │
            │         └──────▶ PrepareAbort ───▶ CompleteAbort ───▶ Ongoing …
            └── version 2 ────────▲                                 (both: as from Empty)

A Prepare record fixes the outcome, and is never taken back; Complete says that every partition has its marker. From
Empty and Complete an id may also be forgotten. Under version 2 an abort without a transaction is one all the same,
since it gives the producer a new epoch.

Dead and PrepareEpochFence have numbers, and names that filters may use, but no record ever has them: what is dead has
no record, and fencing a producer is aborting what it left, which PrepareAbort says.
"""

from __future__ import annotations

import enum


class State(enum.IntEnum):
    """The states of a transactional id, with Kafka's numbers as TransactionLogValue has them."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def title(self) -> str:
        """The state's name in answers and filters: PrepareCommit."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def is_prepared(self) -> bool:
        """PrepareCommit or PrepareAbort: the outcome is fixed, and some partitions may lack their marker."""
        return self in (State.PREPARE_COMMIT, State.PREPARE_ABORT)

    @property
    def is_at_rest(self) -> bool:
        """Empty or Complete: a transaction may begin, and the id may expire."""
        return self in _AT_REST

    def may_become(self, later: State) -> bool:
        """Whether a record of `later` may follow one of this state."""
        return self in FOLLOWS[later]


_AT_REST = (State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT)

# The states that each may follow. None follows itself but Empty (InitProducerId) and Ongoing (another partition).
FOLLOWS: dict[State, tuple[State, ...]] = {
    State.EMPTY: _AT_REST,
    State.ONGOING: (*_AT_REST, State.ONGOING),
    State.PREPARE_COMMIT: (State.ONGOING,),
    State.PREPARE_ABORT: (*_AT_REST, State.ONGOING),
    State.COMPLETE_COMMIT: (State.PREPARE_COMMIT,),
    State.COMPLETE_ABORT: (State.PREPARE_ABORT,),
    State.DEAD: (),
    State.PREPARE_EPOCH_FENCE: (),
}

BY_TITLE: dict[str, State] = {state.title: state for state in State}
