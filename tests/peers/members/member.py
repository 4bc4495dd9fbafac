"""A member as it sees itself: takes commands, polls, and tells what happens to it.

A partition is the member's own from the first moment of being told so to the last of being asked for it back:
`assigned` is written before anything else is done about it, `revoked` after all of its records are committed and
before the client library lets go. So if the lines of two members overlap, two have owned a partition at once.

A record counts as processed when its line is written. What was processed is committed when there is nothing
to read, after every hundred records, when a partition is asked back and before leaving; so where nobody fails,
nothing is processed twice.

The clock is CLOCK_MONOTONIC, which all processes of a machine share.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

COMMIT_RECORDS = 100
POLL_S = 0.1
FENCED = (
    82,
    -150,
)  # by a newer member of the same name; librdkafka has a number of its own for what is fatal

Place = tuple[str, int]
Command = dict[str, Any]


def commands() -> queue.SimpleQueue[Command]:
    """The lines of standard input as they come; at their end nobody listens any more, and the process ends."""
    told: queue.SimpleQueue[Command] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            told.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return told


class Journal:
    """What happened to a member, line by line, and what it may still process."""

    def __init__(self, member: str) -> None:
        self.member = member
        self.owned: set[Place] = set()
        self.processed: dict[Place, int] = {}  # the next offset of each partition, until it is committed
        self._seen = 0

    def tell(self, event: str, **more: Any) -> None:
        line = json.dumps({"member": self.member, "at": time.monotonic_ns(), "event": event, **more})
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def assigned(self, places: Iterable[Place]) -> None:
        given = sorted(places)
        self.tell("assigned", partitions=given)
        self.owned.update(given)

    def gone(self, event: str, places: Iterable[Place]) -> None:
        """Revoked or lost; what was not committed by now will be read by the next owner."""
        taken = sorted(places)
        self.owned.difference_update(taken)
        for place in taken:
            self.processed.pop(place, None)
        self.tell(event, partitions=taken)

    def record(self, place: Place, offset: int, value: bytes | None) -> None:
        """Process one, if it is still ours to process."""
        if place in self.owned:
            text = None if value is None else value.decode()
            self.tell("record", partition=list(place), offset=offset, value=text)
            self.processed[place] = offset + 1
            self._seen += 1

    @property
    def due(self) -> bool:
        """Whether enough was processed for another commit."""
        return self._seen >= COMMIT_RECORDS

    def take_processed(self) -> dict[Place, int]:
        """What to commit now."""
        taken, self.processed, self._seen = self.processed, {}, 0
        return taken

    def keep(self, offsets: dict[Place, int]) -> None:
        """They could not be committed now, as happens while a rebalance is under way: another time."""
        self.processed = {place: at for place, at in offsets.items() if place in self.owned} | self.processed

    def committed(self, offsets: dict[Place, int]) -> None:
        self.tell("committed", offsets=[[*place, offset] for place, offset in sorted(offsets.items())])

    def error(self, code: int, message: str) -> None:
        """Whoever is fenced has no more to say here."""
        self.tell("error", code=code, message=message)
        if code in FENCED:
            self.tell("left")
            os._exit(0)


class Member:
    """The loop of a blocking client; a library fills in how it joins, polls, commits and leaves."""

    errors: type[Exception]  # the root of what the library raises

    def __init__(self, spec: Command) -> None:
        self.spec = spec
        self.journal = Journal(spec["member"])
        self.auto_commit = bool(spec.get("auto_commit"))
        self.open()

    def open(self) -> None:
        """Make the consumer and subscribe."""
        raise NotImplementedError

    def poll(self) -> bool:
        """Hear of changes, process what there is; return whether there was anything."""
        raise NotImplementedError

    def commit(self, offsets: dict[Place, int]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Leave the group."""
        raise NotImplementedError

    def told(self, error: Any) -> tuple[int, str]:
        """Kafka's number for what the library raised, and its words."""
        raise NotImplementedError

    def run(self, told: queue.SimpleQueue[Command]) -> None:
        leaving = False
        while not (leaving and self.commit_processed()):
            if not told.empty():
                match told.get()["do"]:
                    case "pause":
                        assert told.get()["do"] == "resume"
                    case "leave":
                        leaving = True
            if not self._polled() or self.journal.due:
                self.commit_processed()
        self.journal.gone("revoked", set(self.journal.owned))
        self.close()
        self.journal.tell("left")

    def _polled(self) -> bool:
        try:
            return self.poll()
        except self.errors as error:
            self.journal.error(*self.told(error))
            return False

    def commit_processed(self) -> bool:
        """Return whether nothing is left to commit."""
        offsets = self.journal.take_processed()
        try:
            if offsets and not self.auto_commit:
                self.commit(offsets)
                self.journal.committed(offsets)
            return True
        except self.errors as error:
            self.journal.keep(offsets)
            self.journal.error(*self.told(error))
            return False


def main(member: type[Member]) -> None:
    """Wait for the command to join, then live as that member."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # where it stands, for hosting.Host.said
    told = commands()
    member(told.get()).run(told)
    os._exit(0)  # nothing that a library left running may keep the process
