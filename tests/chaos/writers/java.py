"""Kafka's Java producer, in a process of its own (peers/java/Loading.java): it says what becomes of each record."""

from __future__ import annotations

import json
import subprocess
import threading

from chaos.writers.base import DELIVERY_MS, REQUEST_MS, Writer
from peers import jvm


class JavaWriter(Writer):
    """Idempotent, as it is by default."""

    def run(self) -> None:
        told = {"bootstrap.servers": self.bootstrap, "linger.ms": "5", "request.timeout.ms": str(REQUEST_MS)}
        told |= {"delivery.timeout.ms": str(DELIVERY_MS), "reconnect.backoff.max.ms": "500"}
        process = subprocess.Popen(
            jvm.command("Loading"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        begin = {"config": told, "topic": self.topic, "partitions": self.partitions, "rate": self.rate}
        process.stdin.write(json.dumps({**begin, "writer": self.ledger.writer}) + "\n")
        process.stdin.flush()
        threading.Thread(target=self._end, args=(process,), daemon=True).start()
        try:
            for line in process.stdout:
                self._heard(line)
        finally:
            process.kill()
            process.wait()

    def _end(self, process: subprocess.Popen[str]) -> None:
        self._over.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _heard(self, line: str) -> None:
        kind, partition, number, rest = line.rstrip("\n").split(" ", 3)
        if kind == "sent":
            self.ledger.next(int(partition))
        elif kind == "acked":
            self.ledger.acknowledged(int(partition), int(number), int(rest))
        else:
            self.ledger.refused(int(partition), int(number), rest)
