"""A node in this process whose every step is measured: how long it computes, and what it holds at the most.

Time is the processor's, not the clock's, and told in seconds of a machine at rest: what else runs on it slows a
processor down by half and more, so each measurement has a yardstick beside it, the same work every time. Python's own
accounting of memory makes everything several times slower, so a request is played for one or for the other.
"""

from __future__ import annotations

import gc
import time
import tracemalloc

from andiron.model.effects import Disconnected, Event, Received
from andiron.model.ids import Millis
from worlds.node import SmallNode

TOPICS = ("a", "topic-1")  # names that the samples use
PATIENCE = 100_000  # steps for one request
YARDSTICK_S = 0.005  # what `yardstick` takes on a machine at rest


def yardstick() -> float:
    """What some work takes that is like the node's: small objects, made and looked up."""
    began = time.thread_time()
    made = {number: (number, str(number)) for number in range(20_000)}
    for number in range(20_000):
        assert made[number][0] == number
    return time.thread_time() - began


class Victim(SmallNode):
    """A node with two topics; connections come and go."""

    def __init__(self) -> None:
        self.slowest_s = 0.0
        self._conn = 1
        super().__init__()
        for topic in TOPICS:
            self.create(topic)
        self.settle()
        gc.collect()
        gc.freeze()  # what the tests hold is not the node's to walk through

    def step(self, event: Event) -> None:
        """As any step, but measured."""
        began = time.thread_time()
        effects = self.node.step(event, self.now)
        self.slowest_s = max(self.slowest_s, time.thread_time() - began)
        self.carry_out(effects)

    def slowest_for(self, frame: bytes, listener: str = "PLAINTEXT") -> float:
        """The longest step that a request brings about, in seconds of a machine at rest."""
        self.slowest_s = 0.0
        self._play(frame, listener)
        return self.measured_s()

    def measured_s(self) -> float:
        """The longest step so far, as it would be on a machine at rest."""
        slowed = max(yardstick() for _ in range(3))
        return self.slowest_s * min(1.0, YARDSTICK_S / slowed)

    def most_held_for(self, frame: bytes, listener: str = "PLAINTEXT") -> int:
        """The most bytes that are held for a request at a time, beside its frame."""
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            self._play(frame, listener)
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()

    def new_connection(self, listener: str = "PLAINTEXT") -> int:
        """One more; its number."""
        self._conn += 1
        self.connect(self._conn, listener)
        return self._conn

    def new_ticket(self) -> int:
        self._ticket += 1
        return self._ticket

    def come_to_rest(self) -> None:
        """Let all be done that is due, and forget the answers."""
        for _ in range(PATIENCE):
            if self.node.next_deadline() > self.now:
                break
            self.wake()
        else:
            raise AssertionError("it never comes to rest")
        self.replies.clear()
        self.closed.clear()

    def _play(self, frame: bytes, listener: str) -> None:
        """One connection, one request, and all that is due because of it."""
        conn = self.new_connection(listener)
        self.step(Received(conn, self.new_ticket(), memoryview(bytearray(frame))))
        self.come_to_rest()
        self.step(Disconnected(conn))
        self.now = Millis(self.now + 1)
