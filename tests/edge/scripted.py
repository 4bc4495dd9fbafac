"""A node that does what its requests say, for trying out an edge without a broker.

echo:TEXT        answers TEXT
later:TEXT       answers TEXT when `release(TEXT)` is called
silent:          owes no answer
stamp:TEXT       answers TEXT after writing into the frame, as an append does
size:N           answers N bytes
slice:AT:N       answers N bytes of its file, from AT
flush:TEXT       answers TEXT when its file has been flushed
work:TEXT        answers what a job makes of TEXT
twice:TEXT       answers twice, which a node must not
wrong:           answers with something that cannot be sent
close:WHY        hangs up
boom:            raises
"""

from __future__ import annotations

from typing import Any

from andiron.log.disk import FileSlice
from andiron.model.effects import Close, Disconnected, Finished, Flush, Flushed, Received, Reply, Woken, Work
from andiron.model.ids import NEVER


class Upper:
    """A job."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def run(self, disk: Any) -> bytes:
        return self.text.upper()


class ScriptedNode:
    """Keeps every event but the received frames, of which it keeps the text."""

    controller_listeners: tuple[str, ...] = ()
    brokers_listener = ""
    patience_ms = 60_000
    trouble: str | None = None
    broken: str | None = None
    waits_for = "a flush"
    has_left = is_settled = True
    follower_connections: tuple[int, ...] = ()

    def __init__(self, file: Any = None) -> None:
        self.file = file
        self.ready = False
        self.starting_flush = False
        self.events: list[Any] = []
        self.texts: list[str] = []
        self.stopped_at: int | None = None
        self.fails_when_woken = False
        self.deadline = NEVER
        self._later: dict[bytes, tuple[int, int]] = {}
        self._due: list[Any] = []
        self._tokens: dict[int, tuple[int, int, bytes]] = {}

    def start(self, now: int) -> list[Any]:
        if self.starting_flush:
            return [Flush(0, (self.file,))]
        self.ready = True
        return []

    def leave(self, now: int) -> list[Any]:
        return []

    def resign(self, now: int) -> list[Any]:
        return []

    def stop(self, now: int) -> bool:
        self.stopped_at = now
        return True

    def next_deadline(self) -> int:
        return 0 if self._due else self.deadline

    def release(self, text: bytes) -> None:
        """Let the answer to `later:TEXT` go, at the next waking."""
        self._due.append(Reply(*self._later.pop(text), [text]))

    def step(self, event: Any, now: int) -> list[Any]:
        if isinstance(event, Received):
            return self._received(event)
        self.events.append(event)
        if isinstance(event, Flushed) and event.token == 0:
            self.ready = True
            return []
        if isinstance(event, Flushed | Finished):
            conn, ticket, text = self._tokens.pop(event.token)
            answer = event.result if isinstance(event, Finished) else text
            return [Reply(conn, ticket, [event.error.encode() if event.error else answer])]
        if isinstance(event, Woken):
            return self._woken(now)
        if isinstance(event, Disconnected):
            self._later = {text: asked for text, asked in self._later.items() if asked[0] != event.conn}
        return []

    def _woken(self, now: int) -> list[Any]:
        if self.fails_when_woken:
            raise RuntimeError("a planted bug")
        if self.deadline <= now:
            self.deadline = NEVER
        due, self._due = self._due, []
        return due

    def _received(self, event: Received) -> list[Any]:
        conn, ticket, frame = event
        text = bytes(frame)
        self.texts.append(text[:40].decode(errors="replace"))
        verb, _, rest = text.partition(b":")
        match verb:
            case b"echo" | b"\x00\x01":  # what looks like a Fetch is one more that is answered
                return [Reply(conn, ticket, [rest[:1], rest[1:]])]
            case b"later":
                self._later[rest] = (conn, ticket)
                return []
            case b"silent":
                return [Reply(conn, ticket, None)]
            case b"stamp":
                frame[:5] = b"STAMP"
                return [Reply(conn, ticket, [bytes(frame)])]
            case b"size":
                return [Reply(conn, ticket, [bytes(int(rest))])]
            case b"slice":
                at, length = map(int, rest.split(b":"))
                return [Reply(conn, ticket, [b"<", FileSlice(self.file, at, length), b">"])]
            case b"flush":
                self._tokens[len(self.texts)] = (conn, ticket, rest)
                return [Flush(len(self.texts), (self.file,))]
            case b"work":
                self._tokens[len(self.texts)] = (conn, ticket, rest)
                return [Work(len(self.texts), Upper(rest))]
            case b"twice":
                return [Reply(conn, ticket, [rest]), Reply(conn, ticket, [rest])]
            case b"wrong":
                return [Reply(conn, ticket, ["a text is not bytes"])]
            case b"close":
                return [Close(conn, rest.decode())]
        raise RuntimeError(f"a planted bug at {verb!r}")
