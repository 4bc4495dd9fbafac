"""The network threads, where they were compiled: native/request_channel.c and processor.c.

`Channel` is None where the extension is not there: no compiler was at hand when Andiron was installed, the system has
no epoll, or ANDIRON_NATIVE=0 is set. Then the loop serves all connections, as it does while it has time for them.

Read next: request_channel.py.
"""

from __future__ import annotations

try:
    from andiron.edge import _native
except ImportError:
    _there = False
else:
    _there = _native.EDITION == 1  # another was built from sources that have changed since

Channel: type[_native.Channel] | None = _native.Channel if _there else None

# What a thread is told of a connection, and what it tells: as in native/processor.h.
MUTE, UNMUTE, GRANT, LEAVE_ROOM, TELL_SENT, GO_ON, RELEASE, CLOSE = range(2, 10)
(
    ENDED, BAD_SIZE, BROKEN, UNSENT, SLICE_LOST, ROOM_WANTED, ROOM_LEFT, SENT_ALL, RELEASED, CLOSED,
) = range(10)  # fmt: skip
