"""Who can be read or written now: one poll a turn, and a callback for each that is ready.

    watch(fd, READ, callback) ─▶ ┌──────┐
    change(fd, WRITE)            │ poll │ ─▶ callback(events), once each
    wake(), from anywhere ─────▶ └──────┘ ─▶ on_wake()

Nothing else is in here: no timers, no queue of things to do. The host (host.py) says how
long a poll may wait and what comes between two of them.

Events are epoll's numbers everywhere. `select.epoll` is used where there is one, since
the layer that `selectors` puts over it costs 0.6 µs a turn and 0.2 µs for each ready
descriptor; elsewhere `selectors` is dressed as an epoll.

The law easy to break: a callback may forget any descriptor, and the system gives its
number to the next that is opened. So a callback may be called once for nothing, and must
take "not ready after all" for an answer.

Read next: connection.py.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import sys
from collections.abc import Callable
from typing import Protocol, TypeAlias

READ = 1  # EPOLLIN
WRITE = 4  # EPOLLOUT
BROKEN = 8 | 16  # EPOLLERR, EPOLLHUP: reported without being asked for
READY_MAX = 256  # taken in one turn; the others are first in the next

Callback: TypeAlias = Callable[[int], None]


class Poll(Protocol):
    """What of `select.epoll` is used."""

    def register(self, fd: int, events: int, /) -> None: ...
    def modify(self, fd: int, events: int, /) -> None: ...
    def unregister(self, fd: int, /) -> None: ...
    def poll(self, timeout: float, maxevents: int, /) -> list[tuple[int, int]]: ...
    def close(self) -> None: ...


class PortablePoll:
    """The same over `selectors`: kqueue on a Mac, poll elsewhere. A descriptor may be watched for nothing."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def register(self, fd: int, events: int) -> None:
        if events:
            self._selector.register(fd, _to_selectors(events))

    def modify(self, fd: int, events: int) -> None:
        self.unregister(fd)
        self.register(fd, events)

    def unregister(self, fd: int) -> None:
        if fd in self._selector.get_map():
            self._selector.unregister(fd)

    def poll(self, timeout: float, maxevents: int) -> list[tuple[int, int]]:
        ready = self._selector.select(None if timeout < 0 else timeout)
        return [(key.fd, _from_selectors(events)) for key, events in ready[:maxevents]]

    def close(self) -> None:
        self._selector.close()


def _to_selectors(events: int) -> int:
    return (selectors.EVENT_READ if events & READ else 0) | (selectors.EVENT_WRITE if events & WRITE else 0)


def _from_selectors(events: int) -> int:
    return (READ if events & selectors.EVENT_READ else 0) | (WRITE if events & selectors.EVENT_WRITE else 0)


def best_poll() -> Poll:
    """The quickest one this system has."""
    if sys.platform == "linux":
        return select.epoll()
    return PortablePoll()


class Loop:
    """Descriptors, their callbacks, and a way to be woken."""

    def __init__(self, poll: Poll | None = None) -> None:
        self._poll = best_poll() if poll is None else poll
        self._callbacks: dict[int, Callback] = {}
        self._wake_reader, self.wake_fd = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self.wake_fd, False)  # as signal.set_wakeup_fd wants it
        self.on_wake: Callable[[], None] = _nothing
        self.watch(self._wake_reader, READ, self._woken)

    def watch(self, fd: int, events: int, callback: Callback) -> None:
        """From the next poll on, tell `callback` when one of `events` holds for `fd`."""
        self._callbacks[fd] = callback
        self._poll.register(fd, events)

    def change(self, fd: int, events: int) -> None:
        """Ask for other events of a watched descriptor."""
        self._poll.modify(fd, events)

    def forget(self, fd: int) -> None:
        """To be called before a descriptor is closed."""
        del self._callbacks[fd]
        self._poll.unregister(fd)

    def poll(self, wait_s: float) -> list[tuple[int, int]]:
        """Wait up to `wait_s` seconds, without end if negative; who is ready, and for what."""
        return self._poll.poll(wait_s, READY_MAX)

    def dispatch(self, ready: list[tuple[int, int]]) -> None:
        """Call each that is ready."""
        find = self._callbacks.get
        for fd, events in ready:
            callback = find(fd)
            if callback is not None:  # forgotten by a callback before it
                callback(events)

    def wake(self) -> None:
        """End the poll that is waiting, or the next one. Safe in any thread and in a signal handler."""
        with contextlib.suppress(BlockingIOError):  # full: a waking is on its way already
            os.write(self.wake_fd, b"\0")

    def close(self) -> None:
        self._poll.close()
        os.close(self._wake_reader)
        os.close(self.wake_fd)

    def _woken(self, _events: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_reader, 4096)
        self.on_wake()


def _nothing() -> None:
    pass
