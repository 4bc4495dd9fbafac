"""How long can nothing be written to a partition? A record every few milliseconds, acks=all, and the longest gap.

    ack ack ack ack ···························· ack ack ack
                 └─────── the longest gap ──────┘

By librdkafka, told to lose little time of its own: it asks for metadata and connects again within hundredths of a
second. All the same it may take a second or two to ask who leads; probe.py knows how long the cluster took. Whatever
was acknowledged has an offset of its own; an offset that is given twice is a record that was lost.
"""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import Self

from confluent_kafka import KafkaError, Message, Producer

EVERY_S = 0.005
RESUMED_ACKS = 100  # as many in a row, without a pause, are a partition that can be written to again
PAUSE_S = 0.1
EAGER = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 0,
    "retry.backoff.ms": 10,
    "retry.backoff.max.ms": 30,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 30,
    "topic.metadata.refresh.fast.interval.ms": 10,
    "socket.connection.setup.timeout.ms": 1000,
    "log_level": 0,
}


class Pulse:
    """Writes from the beginning of the block to its end."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, **EAGER})
        self._topic = topic
        self._acks: list[tuple[float, int]] = []
        self.failed = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, name="pulse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._producer.flush(10)

    def wait_until_steady(self, since: float, patience_s: float) -> bool:
        """Whether there have been some acknowledgements in a row after a moment, none long after the other."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            latest = [at for at, _ in self._acks[-RESUMED_ACKS:]]
            if len(latest) == RESUMED_ACKS and latest[0] > since and _longest(latest) < PAUSE_S:
                return True
            time.sleep(0.02)
        return len(self._acks) > 0 and self._acks[-1][0] > since

    def longest(self, since: float) -> float:
        """The longest time between two acknowledgements, the first of them not long before a moment."""
        return _longest([at for at, _ in self._acks if at > since - 2 * PAUSE_S])

    @property
    def lost(self) -> int:
        """Acknowledged records whose offset was given to another."""
        offsets = [offset for _, offset in self._acks]
        return len(offsets) - len(set(offsets))

    def _write(self) -> None:
        due = time.monotonic()
        while not self._ended.is_set():
            self._producer.produce(self._topic, bytes(100), partition=0, on_delivery=self._delivered)
            due += EVERY_S
            while (ahead := due - time.monotonic()) > 0:
                self._producer.poll(ahead)
            self._producer.poll(0)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self._acks.append((time.monotonic(), message.offset()))
        else:
            self.failed += 1


def _longest(times: list[float]) -> float:
    return max((after - before for before, after in pairwise(times)), default=0.0)
