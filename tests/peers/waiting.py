"""Waiting for what Kafka promises soon and not at once: metadata spreads after the call that changed it."""

from __future__ import annotations

import time
from collections.abc import Callable

from peers.clients.base import Refused


def eventually(holds: Callable[[], bool], patience_s: float = 30.0) -> None:
    """Ask until it is so; a refusal meanwhile counts as not yet."""
    until = time.monotonic() + patience_s
    while True:
        problem: Exception | None = None
        try:
            if holds():
                return
        except Refused as refused:
            problem = refused
        if time.monotonic() > until:
            raise AssertionError("it did not come to pass") from problem
        time.sleep(0.05)
