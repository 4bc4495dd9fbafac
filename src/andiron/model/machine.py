"""The deciding machine: a state that is the replay of a log.

    def decide(self, request, now) -> Decision     # records to append, response to give; changes nothing
    def replay(self, record, offset) -> None       # the only way to change one

The controller is one, and each coordinator. `broker/shards.py` runs them all: append what
was decided, replay it, answer when it is committed. So a state can always be made again
from its log, and there is no second way to reach one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from andiron.model.ids import Millis, Offset

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """What a machine makes of a request: records that bring it about, and what to answer once they count."""

    response: Any
    records: list[T] = field(default_factory=list)


class DecidingMachine(Protocol[T]):
    """Decides by looking at its state, and changes only by replay."""

    def decide(self, request: Any, now: Millis) -> Decision[T]:
        """What should follow from a request. Called twice, it says the same twice."""

    def replay(self, record: T, offset: Offset) -> None:
        """Take in a record that stands in the log at `offset`."""
