"""Produce, the short way: a producer that repeats itself is not parsed again.

A busy producer sends the same request over and over, to one partition, with nothing
different but the correlation id and the records:

    key version │ correlation │ client id … acks … topic … partition │ length │ records │ 0 0 0
    ─── head ───                ────────────── prefix ──────────────                     flexible versions alone

Once such a request has been answered by its handler, the connection keeps what was the same
in it. The next one that begins with these very bytes (`repeat`; compiled, native/repeat.c) goes
straight to `Partition.append`, and its answer, the same too but for three numbers, is one `pack`.
That takes half of the work out of a small request.

The law: this is the handler's way with steps left out, never another way. The same code
checks and appends the batch and words a refusal; whatever is not exactly as before, and
whatever has to wait, goes through the handler as if this were not here. A property test
plays both against each other.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, Protocol

from andiron.broker.broker import Broker
from andiron.broker.coordinators.transaction_admission import are_transactional
from andiron.broker.handlers.produce import refused
from andiron.broker.node.request import Request
from andiron.broker.replicas.partition import Partition
from andiron.broker.telemetry.traffic import count
from andiron.controller.topics import is_internal
from andiron.model.errors import ProtocolError
from andiron.model.ids import Millis
from andiron.records import native
from andiron.wire.apis import APIS, ApiKey
from andiron.wire.codec import encoder
from andiron.wire.header import encode_response_header
from andiron.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from andiron.wire.primitives import MalformedMessage, continue_uvarint, uvarint

_HEAD = Struct(">Ii")  # API key and version together, correlation id
_LENGTH = Struct(">i")
_NUMBERS = Struct(">qqq")  # base offset, append time, log start: neighbours in the response
_UNLIKELY = (0x1122_3344_5566_7788, 0x2233_4455_6677_8899, 0x3344_5566_7788_99AA)
_NO_TAGS = b"\0\0\0"  # of the partition, the topic and the request

FLEXIBLE = APIS[ApiKey.PRODUCE].flexible_since
START_SINCE = 5  # the version from which on the response tells the log's start


class Repeat(Protocol):
    """Whether a frame is the same again: its correlation id, and from where to where its records lie; or None."""

    def __call__(
        self, frame: memoryview, head: int, prefix: bytes, flexible: bool, /
    ) -> tuple[int, int, int] | None: ...


def repeat(frame: memoryview, head: int, prefix: bytes, flexible: bool, /) -> tuple[int, int, int] | None:
    """The way without a compiler; native/repeat.c takes the very same frames (tests/properties/test_shortcut.py)."""
    stop = 8 + len(prefix)
    if len(frame) <= stop:
        return None
    begins, correlation = _HEAD.unpack_from(frame)
    if begins != head or frame[8:stop].tobytes() != prefix:
        return None
    found = _find_flexible(frame, stop) if flexible else _find(frame, stop)
    if found is None or are_transactional(frame[found[0] : found[1]]):
        return None
    return correlation, *found


def _find(frame: memoryview, position: int) -> tuple[int, int] | None:
    """Where records lie that go to the end of the frame."""
    start = position + 4
    if len(frame) < start:
        return None
    (length,) = _LENGTH.unpack_from(frame, position)
    return (start, len(frame)) if length > 0 and start + length == len(frame) else None


def _find_flexible(frame: memoryview, position: int) -> tuple[int, int] | None:
    """The same of a version that has tags, if there are none."""
    length, start = frame[position], position + 1
    if length > 127:
        try:
            length, start = continue_uvarint(frame, start, length)
        except MalformedMessage:
            return None
    stop = start + length - 1
    return (start, stop) if length > 1 and frame[stop:] == _NO_TAGS else None


_repeat: Repeat = native.repeat or repeat


class Shortcut:
    """What is the same in a connection's produce requests, and in the answers to them."""

    __slots__ = (
        "_acks", "_after", "_before", "_flexible", "_head", "_index", "_pack", "_partition", "_prefix", "_topic",
        "_version",
    )  # fmt: skip

    def __init__(
        self, head: int, prefix: bytes, version: int, acks: int, topic: TopicProduceResponse, partition: Partition
    ) -> None:  # fmt: skip
        self._head, self._prefix = head, prefix
        self._version, self._acks, self._flexible = version, acks, version >= FLEXIBLE
        self._topic, self._index, self._partition = topic, partition.name.partition, partition
        # Let the encoder write an answer with numbers that nobody mistakes, and keep what is around them.
        answer = PartitionProduceResponse(self._index, 0, *_UNLIKELY)
        self._before, self._after = self._encoded(0, answer)[4:].split(_NUMBERS.pack(*_UNLIKELY))
        self._pack = Struct(f">i{len(self._before)}sqqq{len(self._after)}s").pack

    @classmethod
    def after(cls, frame: memoryview, request: Request[ProduceRequest], broker: Broker) -> Shortcut | None:
        """The short way for requests like this one, which its handler has just answered; None if it has none."""
        body, version = request.body, request.version
        if body.acks == 0 or version < START_SINCE or len(body.topic_data) != 1:
            return None
        if body.transactional_id is not None:
            return None
        topic = body.topic_data[0]
        if len(topic.partition_data) != 1 or not topic.partition_data[0].records:
            return None
        index, length = topic.partition_data[0].index, len(topic.partition_data[0].records)
        length_field = uvarint(length + 1) if version >= FLEXIBLE else _LENGTH.pack(length)
        tail = _NO_TAGS if version >= FLEXIBLE else b""
        stop = len(frame) - len(tail) - length - len(length_field)
        if frame[stop : stop + len(length_field)] != length_field or frame[len(frame) - len(tail) :] != tail:
            return None  # it has tags, or bytes after its end
        partition = broker.partition(topic.name, topic.topic_id, index)
        if is_internal(partition.name.topic):
            return None
        head, _ = _HEAD.unpack_from(frame)
        answered = TopicProduceResponse(topic.name, topic.topic_id)
        return cls(head, frame[8:stop].tobytes(), version, body.acks, answered, partition)

    def take(self, frame: memoryview, broker: Broker, now: Millis) -> bytes | None:
        """Handle a request of the usual kind; returns the answer. None: let its handler have it."""
        found, partition = _repeat(frame, self._head, self._prefix, self._flexible), self._partition
        if found is None or not partition.acknowledges_at_once:
            return None
        correlation, start, stop = found
        try:
            written = partition.append(frame[start:stop], self._acks, self._version, now)
        except ProtocolError as error:  # the records may be stamped by now, so nobody else can check them
            count(partition.traffic.failed_produces, error.code.name)
            return self._encoded(correlation, refused(broker, self._index, error))
        broker.step.appended(partition, written)
        base, append_time, log_start = written.base_offset, written.append_time, partition.log.start
        return self._pack(correlation, self._before, base, append_time, log_start, self._after)

    def _encoded(self, correlation: int, answer: PartitionProduceResponse) -> bytes:
        self._topic.partition_responses = [answer]
        parts: list[Any] = [encode_response_header(ApiKey.PRODUCE, self._version, correlation)]
        encoder(ProduceResponse, self._version)(ProduceResponse([self._topic]), parts)
        return b"".join(parts)
