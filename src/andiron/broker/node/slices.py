"""Long work in slices, between which others are served.

A request of some megabytes is legal, and may have entries by the ten thousand. Whatever grows with them is a generator
that yields after a slice: decoding (wire/decoders.py), the handlers of APIs that answer entry by entry (`each`), and
encoding. A step does one slice; the node wants to be woken at once while there are more, and its edge serves everyone
else in between.

    Received ─▶ decode ┄ yield ┄▶ handle ┄ yield ┄▶ encode ┄ yield ┄▶ Reply
                        a step           a step             a step

The first slice is done in the step that brings the request, so one that needs no second is answered there and then. The
node has no clock to stop at: a slice is so many entries, few enough for some milliseconds (slice_sizes.py).

The law easy to break: requests of a connection are handled in their order. What comes while one is under way is held
back, and taken in when that is answered or waits.

Read next: node.py.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from andiron.broker.node.slice_sizes import SIZES
from andiron.model.effects import Close, Effect, Received
from andiron.model.line import Line

T = TypeVar("T")
R = TypeVar("R")

InSlices = Generator[None, None, T]  # gives a T in the end

_BUG = "the node failed at a long request"

log = logging.getLogger(__name__)


def each(items: Iterable[T], make: Callable[[T], R], slice: int = 0) -> InSlices[list[R]]:
    """What `make` makes of each, so many at a time."""
    slice = slice or SIZES.entries
    made: list[R] = []
    for item in items:
        made.append(make(item))
        if not len(made) % slice:
            yield
    return made


def each_by_weight(
    items: Iterable[T], make: Callable[[T], R], weigh: Callable[[R], int], slice: int = 0
) -> InSlices[list[R]]:
    """The same, where what is made of one may be as much as what is made of hundreds of others."""
    slice = slice or SIZES.entries
    made: list[R] = []
    weight = 0
    for item in items:
        made.append(make(item))
        weight += weigh(made[-1])
        if weight >= slice:
            weight = 0
            yield
    return made


class LongWork:
    """The requests that are under way, and what waits behind them on their connections."""

    def __init__(self) -> None:
        self.failures = 0  # bugs
        self._jobs: deque[tuple[int, InSlices[list[Effect]]]] = deque()
        self._behind: dict[int, deque[Received]] = {}  # by connection: those that came later

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def begin(self, conn: int, work: InSlices[list[Effect]]) -> list[Effect]:
        """Do the first slice of a connection's work; what it brings about, if that was all."""
        done = self._slice(conn, work)
        if done is not None:
            return done
        self._behind.setdefault(conn, deque())
        self._jobs.append((conn, work))
        return []

    def is_before(self, conn: int) -> bool:
        """Whether a request of this connection is under way."""
        return conn in self._behind

    def hold(self, request: Received) -> None:
        """Keep a request until those before it are through."""
        self._behind[request.conn].append(request._replace(frame=memoryview(bytearray(request.frame))))

    def go_on(self, take: Callable[[Received], list[Effect]]) -> list[Effect]:
        """Do a slice of whose turn it is. After the last, `take` gets the requests that were held behind it."""
        conn, work = self._jobs.popleft()
        done = self._slice(conn, work)
        if done is None:
            self._jobs.append((conn, work))
            return []
        if any(other == conn for other, _ in self._jobs):
            return done
        behind = self._behind.pop(conn)
        while behind:
            done += take(behind.popleft())
            if conn in self._behind:  # one more that takes long
                self._behind[conn] = behind
                break
        return done

    def forget(self, conn: int) -> None:
        """The connection is gone, and with it whom the work was for."""
        if self._behind.pop(conn, None) is not None:
            self._jobs = deque((other, work) for other, work in self._jobs if other != conn)

    def _slice(self, conn: int, work: InSlices[list[Effect]]) -> list[Effect] | None:
        """One slice; what has come of it all if it was the last. A bug costs the connection, as in any step."""
        try:
            next(work)
        except StopIteration as end:
            effects: list[Effect] = end.value
            return effects
        except Exception:
            self.failures += 1
            log.exception(
                Line("Node failed at a long request: a bug in Andiron; please report it", connection=conn)
            )
            return [Close(conn, _BUG)]
        return None


def nothing_before(made: T) -> InSlices[T]:
    """What is made already, for those who go on in slices."""
    return made
    yield


def in_slices(response: Any) -> bool:
    """Whether a handler goes on in slices."""
    return type(response) is _GENERATOR


_GENERATOR = type(each((), repr))
