"""What the programs share: the lines in and out, and the loop that reads, changes and writes exactly once.

A library says how each step is done with it (confluent.py, kafka_python.py, aio.py); errors are told by Kafka's
number and the library's own name for them, because what a fenced producer is told is part of what is tested.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Input:
    """A record of the input topic."""

    partition: int
    offset: int
    value: bytes


class Program:
    """One library; `run` answers steps until there are no more."""

    def open(self, bootstrap: str, id: str, timeout_ms: int) -> None:
        raise NotImplementedError

    def begin(self) -> None:
        raise NotImplementedError

    def send(self, topic: str, partition: int, values: Sequence[bytes], wait: bool) -> list[int]:
        raise NotImplementedError

    def offsets(self, bootstrap: str, group: str, topic: str, offsets: dict[int, int]) -> None:
        raise NotImplementedError

    def commit(self) -> None:
        raise NotImplementedError

    def abort(self) -> None:
        raise NotImplementedError

    def join(self, bootstrap: str, topic: str, group: str, instance: str, most: int) -> None:
        raise NotImplementedError

    def poll(self, wait_ms: int) -> list[Input]:
        raise NotImplementedError

    def send_positions(self, positions: dict[int, int]) -> None:
        """Partition → next offset of the input, as a member of the group."""
        raise NotImplementedError

    def told(self, error: Exception) -> tuple[int, str]:
        """Kafka's number for an error, -1 where it has none, and the library's name for it."""
        number = getattr(error, "errno", None)
        return -1 if number is None else number, type(error).__name__

    def turn(self, output: str, wait_ms: int) -> int:
        """One transaction of the loop; how many records it moved."""
        records = self.poll(wait_ms)
        if not records:
            return 0
        say(reached="polled")
        self.begin()
        for record in records:
            self.send(output, record.partition, [b"done " + record.value], wait=False)
        say(reached="sent")
        self.send_positions({record.partition: record.offset + 1 for record in records})
        say(reached="committing")
        self.commit()
        return len(records)

    def run(self) -> None:
        for line in sys.stdin:
            step = json.loads(line)
            try:
                say(result=self._take(step))
            except Exception as error:  # one that broke the library itself is worth telling as well
                code, name = self.told(error)
                say(error=code, name=name, message=str(error))

    def _take(self, step: dict[str, Any]) -> Any:
        place = {"bootstrap": step["bootstrap"]}
        match step["step"]:
            case "open":
                return self.open(**place, id=step["id"], timeout_ms=step["timeout_ms"])
            case "send":
                values = [base64.b64decode(value) for value in step["values"]]
                return self.send(step["topic"], step["partition"], values, step["wait"])
            case "offsets":
                offsets = {int(number): offset for number, offset in step["offsets"].items()}
                return self.offsets(**place, group=step["group"], topic=step["topic"], offsets=offsets)
            case "join":
                return self.join(
                    **place,
                    topic=step["topic"],
                    group=step["group"],
                    instance=step["instance"],
                    most=step["most"],
                )
            case "turn":
                return self.turn(step["output"], step["wait_ms"])
            case "begin" | "commit" | "abort" as simple:
                return getattr(self, simple)()


def say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)
