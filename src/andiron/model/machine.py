"""The deciding machine: a state that is the replay of a log.

    def decide(self, request, now) -> Decision     # records to append, response to give; changes nothing
    def replay(self, record, offset) -> None       # the only way to change one

The controller is one, and each coordinator. `broker/coordinators/shard.py` runs them all: append what
was decided, replay it, answer when it is committed. So a state can always be made again
from its log, and there is no second way to reach one.

Coordinators know a little more than their log does: who is late with a heartbeat, who has
asked to join and waits for the others. That knowledge is soft. `decide` may change it, it is
gone when the machine is dropped, and clients live with that: they ask again. A decision that
has touched it says so (`firm=False`), and if its records cannot be written the machine is
dropped and made again from the log.

A request that is answered by what others do is given a Promise. Whoever's decision settles
it, keeps it (`promise.keep(response)`) and lists it in `kept`; the answer leaves when that
decision's records are committed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from andiron.model.ids import Millis, Offset

T = TypeVar("T")


class Promise:
    """The answer to one request, given by the decision on another one."""

    __slots__ = ("end", "kept", "response")

    def __init__(self) -> None:
        self.kept = False
        self.response: Any = None
        self.end = Offset(0)  # of the records that the answer rests on; the shard notes it

    def keep(self, response: Any) -> None:
        """This is the answer. The first one stands."""
        if not self.kept:
            self.kept, self.response = True, response


class InTransaction(NamedTuple):
    """The transaction that a decision's records belong to: they count once it is committed."""

    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """What a machine makes of a request: records that bring it about, and what to answer once they count."""

    response: Any  # of the request's own kind, or a Promise of one
    records: list[T] = field(default_factory=list)
    kept: list[Promise] = field(default_factory=list)  # of other requests, settled by this one
    transaction: InTransaction | None = None
    firm: bool = True  # without its records nothing has happened


class CoordinatorRequest(NamedTuple):
    """A request to a coordinator: its body and version, and the client that sent it."""

    body: Any
    version: int
    client_id: str
    client_host: str


class TimePassed(NamedTuple):
    """The machine's next deadline has come. Asked again until the next one lies ahead; answered with None."""


class LogLoaded(NamedTuple):
    """The log has been replayed to its end: the first request to a machine. Answered with None."""


class DecidingMachine(Protocol[T]):
    """Decides by looking at its state, and changes only by replay."""

    def decide(self, request: Any, now: Millis) -> Decision[T]:
        """What should follow from a request. Called twice, it says the same twice."""

    def replay(self, record: T, offset: Offset) -> None:
        """Take in a record that stands in the log at `offset`."""


class Coordinating(DecidingMachine[T], Protocol[T]):
    """A machine with a clock: it wants to be asked when a time has come."""

    def next_deadline(self) -> Millis:
        """When to come with TimePassed; NEVER if there is nothing to wait for."""
