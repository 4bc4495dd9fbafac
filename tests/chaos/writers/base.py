"""What all writers have in common: a thread, a rate, a ledger."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Iterator

from chaos.ledger import Ledger

DELIVERY_MS = 180_000  # longer than any fault, so that nothing may fail
REQUEST_MS = 8_000  # shorter than the longest, so that requests are sent again


class Writer:
    """Writes from `start` until `stop`; then everything is flushed."""

    def __init__(self, name: str, bootstrap: str, topic: str, partitions: int, rate: float) -> None:
        self.ledger = Ledger(name)
        self.bootstrap, self.topic, self.partitions, self.rate = bootstrap, topic, partitions, rate
        self.problem: str | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience_s: float = DELIVERY_MS / 1000) -> None:
        """Send no more, and wait until every record is answered for."""
        self._over.set()
        self._thread.join(patience_s)
        if self._thread.is_alive():
            self.problem = self.problem or f"{self.ledger.writer} did not come to its end"

    def run(self) -> None:
        """Write until `is_over`, then flush."""
        raise NotImplementedError

    @property
    def progress(self) -> int:
        return self.ledger.total_acked

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def due(self) -> Iterator[int]:
        """Partitions to write to, one after the other, at the rate that was asked for."""
        began, count = time.monotonic(), 0
        while not self.is_over:
            count += 1
            ahead = began + count / self.rate - time.monotonic()
            if ahead > 0:
                self._over.wait(ahead)
            yield count % self.partitions

    def _guarded(self) -> None:
        try:
            self.run()
        except Exception:
            self.problem = traceback.format_exc()
