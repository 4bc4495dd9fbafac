"""A node that lives no longer than the process which started it.

    parent ──pipe──▶ stdin of the node     the parent never writes
       ✕                   end of file ──▶ SIGTERM to itself ──▶ a stop in order
                                           … not done in time ──▶ SIGTERM again, which ends it at once

The system closes the pipe when the parent ends, however it ends: kill -9 too. Why not PR_SET_PDEATHSIG: it is
Linux alone; it fires when the thread that forked ends, and not the process; it needs code between fork and
exec; and a parent that is gone before the call is missed. edge/worker.py keeps its child in the same way.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

GRACE_S = 30.0


def end_with(descriptor: int, end: Callable[[], None] | None = None, grace_s: float = GRACE_S) -> None:
    """Stop this process in order when `descriptor` comes to its end, and at once if that takes too long."""
    threading.Thread(
        target=_watch, args=(descriptor, end or _terminate, grace_s), name="lifeline", daemon=True
    ).start()


def _watch(descriptor: int, end: Callable[[], None], grace_s: float) -> None:
    try:
        while os.read(descriptor, 1024):
            pass
    except OSError:
        pass  # as good as the end: nobody will hold it again
    end()
    time.sleep(grace_s)
    end()


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
