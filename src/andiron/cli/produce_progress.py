"""What a producer has got done, told while it works: on a terminal a line that is rewritten; and what it waits for.

    1,200,000 records (145.2 MiB) written · 41.0 MiB/s
    1,200,000 records (145.2 MiB) written · waiting for 12 s: t-0: the disk is full

A thread of its own looks at what is delivered, since the producer may be waiting for an answer that does not come.
Where stderr is no terminal nothing is said of what goes well.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol, Self

from andiron.cli.failure import explain
from andiron.cli.output import human_bytes, plural
from andiron.cli.screen import Screen
from andiron.client.blocking.sender import DeliveryTotals
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicPartition

TICK_S = 0.5
PATIENCE_S = 3.0  # without anything delivered, while something should be
AGAIN_S = 30.0  # between two lines that say the same
NO_ANSWER = "no broker acknowledges more"


class ProducerWork(Protocol):
    """What Progress looks at: the records that were acknowledged, and whether some are not yet."""

    @property
    def delivered(self) -> dict[TopicPartition, DeliveryTotals]: ...

    @property
    def is_owing(self) -> bool: ...


class Progress:
    """A thread that shows what a producer has delivered, and what it waits for."""

    def __init__(
        self,
        screen: Screen,
        producer: ProducerWork,
        *,
        live: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen, self._producer, self._live, self._clock = screen, producer, live, clock
        self._began = self._moved_at = clock()
        self._records = 0
        self._reason = ""
        self._said: tuple[str, float] = ("", 0.0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._screen.clear()

    def troubled(self, error: ProtocolError) -> None:
        """A request failed with this error, and will be retried."""
        self._reason = explain(error)

    def tick(self) -> None:
        """Look once."""
        delivered = list(self._producer.delivered.values())
        records, size = sum(each.records for each in delivered), sum(each.bytes for each in delivered)
        now = self._clock()
        if records != self._records or not self._producer.is_owing:
            self._records, self._moved_at, self._reason = records, now, ""
        text = f"{plural(records, 'record')} ({human_bytes(size)}) written"
        waited = now - self._moved_at
        if waited >= PATIENCE_S:
            self._wait(text, self._reason or NO_ANSWER, waited)
        elif self._live:
            self._screen.status(f"{text} · {human_bytes(int(size / max(now - self._began, 0.001)))}/s")

    def _wait(self, text: str, reason: str, waited: float) -> None:
        if self._live:
            self._screen.status(f"{text} · waiting for {waited:.0f} s: {reason}")
            return
        said, at = self._said
        if reason != said or self._clock() - at >= AGAIN_S:
            self._said = reason, self._clock()
            self._screen.say(f"{text}, waiting for {waited:.0f} s: {reason}")

    def _go_on(self) -> None:
        while not self._ended.wait(TICK_S):
            self.tick()
