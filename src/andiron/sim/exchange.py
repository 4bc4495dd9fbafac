"""One request and what became of it: a client's, which watchers look into, or a node's, which only nodes do.

    sent ──▶ heard ──▶ decided ──▶ said ──▶ answered, or the connection broke first

A client's reply is decoded when it leaves the node and shown to the watchers then: it is a promise from that moment,
though it may never arrive. What nodes ask each other promises nobody anything; what comes of it shows in their logs,
so only its header is read here, for the history.

Read next: link.py, on which they travel.
"""

from __future__ import annotations

from typing import Any

from andiron.model.ids import Millis
from andiron.sim.watcher import Violation
from andiron.wire.apis import APIS
from andiron.wire.codec import decoder, encoder
from andiron.wire.header import decode_request_header, decode_response_header, encode_request_header
from andiron.wire.primitives import MalformedMessage

_CORRELATION_BYTES = 4


class Exchange:
    """One request of a client's, and what became of it."""

    __slots__ = (
        "body", "correlation", "decided_at", "heard_at", "key", "notes", "response", "said_at", "sent_at",
        "version",
    )  # fmt: skip

    is_watched = True  # by those who hold what was said against what is

    def __init__(self, body: Any, version: int, correlation: int, sent_at: Millis) -> None:
        self.body, self.version, self.correlation, self.sent_at = body, version, correlation, sent_at
        self.key: int = type(body).__api_key__
        self.response: Any = None
        self.heard_at = self.decided_at = self.said_at = Millis(-1)
        self.notes: dict[Any, Any] = {}  # what watchers want to remember of it

    def __str__(self) -> str:
        return f"{APIS[self.key].name} v{self.version} #{self.correlation}"

    @property
    def was_held(self) -> bool:
        """Whether the reply had to wait for its turn: then it tells of an earlier moment."""
        return self.decided_at != self.said_at

    @property
    def is_unanswered(self) -> bool:
        """Whether no reply is expected: a produce request with acks=0."""
        return self.key == 0 and self.body.acks == 0

    def encode(self, client_id: str) -> bytes:
        """The frame of the request."""
        head = encode_request_header(self.key, self.version, self.correlation, client_id)
        parts: list[Any] = [head]
        encoder(type(self.body), self.version)(self.body, parts)
        return b"".join(parts)

    def decode(self, frame: bytes) -> None:
        """Take in the frame of the response."""
        try:
            correlation, position = decode_response_header(frame, 0, len(frame), self.key, self.version)
            self.response, end = decoder(APIS[self.key].response, self.version)(frame, position, len(frame))
        except MalformedMessage as error:
            raise Violation("responses decode", f"{self}: {error}") from error
        if correlation != self.correlation or end != len(frame):
            raise Violation(
                "responses decode", f"{self}: correlation {correlation}, {len(frame) - end} bytes over"
            )


class Errand(Exchange):
    """One request of a node's to another: as bytes, there and back."""

    __slots__ = ("frame", "until")

    is_watched = False

    def __init__(self, token: int, frame: bytes, sent_at: Millis, until: Millis) -> None:
        """`until` is by the clock of the node that asks."""
        try:
            self.key, self.version, correlation, _, _ = decode_request_header(frame, 0, len(frame))
        except MalformedMessage as error:
            raise Violation("calls have a header", str(error)) from error
        if correlation != token or self.key not in APIS:
            raise Violation("calls have a header", f"{token} has correlation {correlation}, key {self.key}")
        self.correlation, self.frame, self.sent_at, self.until = token, frame, sent_at, until
        self.body = self.response = None
        self.heard_at = self.decided_at = self.said_at = Millis(-1)
        self.notes = {}

    @property
    def is_unanswered(self) -> bool:
        """Never: whoever calls waits."""
        return False

    def encode(self, client_id: str) -> bytes:
        return self.frame

    def decode(self, frame: bytes) -> None:
        """Keep the frame of the response, which must be the answer to this."""
        found = int.from_bytes(frame[:_CORRELATION_BYTES], "big")
        if found != self.correlation:
            raise Violation("calls are answered in turn", f"{self} is answered with #{found}")
        self.response = frame
