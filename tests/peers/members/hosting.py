"""The members' processes as a test sees them: started, told what to do, listened to, and killed.

    Host (a process) ── lines ──▶ Member (what one of them said) ◀── leave, pause, kill ── a test

In Python a member is a process. A machine for Java is shared by the members of all tests, unless a member is
to be killed: then it has one of its own, since a thread cannot be killed.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

from peers import jvm
from peers.members.member import Place
from peers.waiting import eventually

PROGRAMS = {
    "confluent": "peers.members.confluent",
    "kafka_python": "peers.members.kafka_python",
    "aiokafka": "peers.members.aio",
}
TESTS = Path(__file__).resolve().parents[2]


class Member:
    """What one member said so far, and the ways to move it."""

    def __init__(self, host: Host, name: str, client: str) -> None:
        self.name = name
        self.client = client
        self._heard: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.ended: int | None = None  # when it left or was killed
        self._host = host

    def tell(self, command: str, **more: Any) -> None:
        self._host.tell({"member": self.name, "do": command, **more})

    @property
    def living(self) -> bool:
        return self.ended is None

    @property
    def owned(self) -> set[Place]:
        """What it has now, by its own words."""
        found: set[Place] = set()
        for event in self.of("assigned", "revoked", "lost"):
            change = set(map(tuple, event["partitions"]))
            found = found | change if event["event"] == "assigned" else found - change
        return found if self.living else set()

    @property
    def records(self) -> list[tuple[Place, int]]:
        """What it processed: partition and offset, in its order."""
        return [(tuple(event["partition"]), event["offset"]) for event in self.of("record")]

    @property
    def errors(self) -> list[int]:
        return [event["code"] for event in self.of("error")]

    def hear(self, event: dict[str, Any]) -> None:
        self._heard[event["event"]].append(event)
        if event["event"] == "left":
            self.ended = event["at"]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """What it said of these kinds, in its order."""
        if len(kinds) == 1:
            return list(self._heard[kinds[0]])
        return sorted((event for kind in kinds for event in list(self._heard[kind])), key=itemgetter("at"))

    def leave(self) -> None:
        """Leave the group in good order, and end."""
        self.tell("leave")
        eventually(lambda: bool(self.of("left")) or self._host.silent)
        assert self.of("left"), f"{self.name} ended without leaving: {self.said()}"

    def kill(self) -> None:
        """End as a crash would: the coordinator is not told."""
        self._host.kill()
        self.ended = time.monotonic_ns()

    def ask_where(self) -> None:
        """Have its process say where it stands, as far as it lives."""
        self._host.ask_where()

    def said(self) -> str:
        """What its process said beside its lines, and the last of these."""
        latest = self.of("assigned", "revoked", "lost", "error", "left")[-5:]
        return f"{self._host.said()[-2000:]}\n{latest}"


class Host:
    """A process with one or several members in it."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        descriptor, self._errors = tempfile.mkstemp(prefix="member-", suffix=".log")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=descriptor,
            env=os.environ | {"PYTHONPATH": str(TESTS)},
            text=True,
        )
        os.close(descriptor)
        self._members: dict[str, Member] = {}
        self._writing = threading.Lock()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        atexit.register(self.kill)

    def join(self, name: str, client: str, spec: dict[str, Any]) -> Member:
        member = self._members[name] = Member(self, name, client)
        member.tell("join", **spec)
        return member

    @property
    def silent(self) -> bool:
        """Whether its lines have ended, and all of them were heard."""
        return not self._listener.is_alive()

    def tell(self, command: dict[str, Any]) -> None:
        assert self._process.stdin
        with self._writing:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        Path(self._errors).unlink(missing_ok=True)
        atexit.unregister(self.kill)

    def said(self) -> str:
        file = Path(self._errors)
        return file.read_text(errors="replace") if file.exists() else ""

    def ask_where(self) -> None:
        """Have it say, beside its lines, where it stands."""
        self._process.send_signal(signal.SIGUSR1 if "-m" in self._command else signal.SIGQUIT)

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:  # a line that a kill cut short
                continue
            self._members[event["member"]].hear(event)


def host(client: str, *, alone: bool) -> Host:
    """A process for a member of this client; an `alone` one shares it with nobody."""
    if client == "java":
        return _java() if alone else _shared_java()
    return Host([sys.executable, "-m", PROGRAMS[client]])


def _java() -> Host:
    return Host(jvm.command("Members"))


@cache
def _shared_java() -> Host:
    return _java()
