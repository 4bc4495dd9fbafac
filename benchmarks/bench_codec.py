"""What does it cost to read a request and to write its response?

It bounds the requests that one node can take before it does anything about them. Beside the
generated codec runs what one would write by hand with `struct` and a few helpers for just this
message and version, first made sure to give the same result: the generator is good if it comes close
on Produce. By hand, tagged sections are passed over unread and errors not thought of.

When written (CPython 3.11, two cores shared with others, four runs), median CPU microseconds a
message. The machine was busy and the times swing with it; the ratio, of pairs timed in turns, holds:

                                             generated    by hand     ratio
    read  ProduceRequest v9, one partition    2.6 - 3.3   3.8 - 4.5   0.70 - 0.73
    write ProduceResponse v9                  0.8 - 1.5   0.9 - 1.7   0.84 - 0.92
    read  FetchRequest v12, ten partitions    5.1 - 6.5   6.5 - 7.6   0.82 - 0.86
    write FetchResponse v12                   9.2 - 13    8.2 - 12    1.08 - 1.12
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from andiron.wire.codec import decoder, encode_message, encoder
from andiron.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from andiron.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from andiron.wire.primitives import MalformedMessage, uvarint
from harness import compare

TIMES = 3_000
BATCH = bytes(1000)


def main() -> None:
    """Each message by the generated codec and by hand."""
    compare_reading("ProduceRequest", 9, produce_request(), read_produce_request)
    compare_reading("FetchRequest", 12, fetch_request(), read_fetch_request)
    compare_writing("ProduceResponse", 9, produce_response(), write_produce_response)
    compare_writing("FetchResponse", 12, fetch_response(), write_fetch_response)


def compare_reading(name: str, version: int, message: Any, by_hand: Any) -> None:
    """Read the bytes of a message both ways."""
    generated = decoder(type(message), version)
    frame = memoryview(encode_message(message, version))
    assert generated(frame, 0, len(frame)) == by_hand(frame, 0, len(frame))
    compare(f"read {name} v{version}", _reading(generated, frame), _reading(by_hand, frame), unit="message")


def compare_writing(name: str, version: int, message: Any, by_hand: Any) -> None:
    """Write a message both ways."""
    generated = encoder(type(message), version)
    assert _written(generated, message) == _written(by_hand, message)
    compare(
        f"write {name} v{version}", _writing(generated, message), _writing(by_hand, message), unit="message"
    )


def _reading(decode: Any, frame: memoryview) -> Callable[[], int]:
    def once() -> int:
        end = len(frame)
        for _ in range(TIMES):
            decode(frame, 0, end)
        return TIMES

    return once


def _writing(encode: Any, message: Any) -> Callable[[], int]:
    def once() -> int:
        for _ in range(TIMES):
            encode(message, [])
        return TIMES

    return once


def _written(encode: Any, message: Any) -> bytes:
    parts: list[bytes] = []
    encode(message, parts)
    return b"".join(parts)


def produce_request() -> ProduceRequest:
    """One batch for one partition."""
    batch = PartitionProduceData(0, BATCH)
    return ProduceRequest(None, 1, 30_000, [TopicProduceData("my-topic", partition_data=[batch])])


def produce_response() -> ProduceResponse:
    """Its answer."""
    answer = PartitionProduceResponse(0, 0, 123_456)
    return ProduceResponse([TopicProduceResponse("my-topic", partition_responses=[answer])])


def fetch_request() -> FetchRequest:
    """Ten partitions of one topic."""
    partitions = [FetchPartition(index, 5, 1000, -1, -1, 1 << 20) for index in range(10)]
    return FetchRequest(max_wait_ms=500, min_bytes=1, topics=[FetchTopic("my-topic", partitions=partitions)])


def fetch_response() -> FetchResponse:
    """A batch from each of them."""
    partitions = [PartitionData(index, 0, 2000, 2000, 0, records=BATCH) for index in range(10)]
    return FetchResponse(responses=[FetchableTopicResponse("my-topic", partitions=partitions)])


# ── by hand ──────────────────────────────────────────────────────────────────────────

_ACKS_TIMEOUT = struct.Struct(">hi").unpack_from
_INDEX = struct.Struct(">i").unpack_from
_FETCH_HEAD = struct.Struct(">iiiibii").unpack_from
_FETCH_PARTITION = struct.Struct(">iiqiqi").unpack_from
_PRODUCED = struct.Struct(">ihqqq").pack
_FETCHED = struct.Struct(">ihqqqBi").pack
_FETCHED_HEAD = struct.Struct(">ihi").pack


def _uvarint(buf: memoryview, pos: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
        shift += 7


def _text(buf: memoryview, pos: int, end: int) -> tuple[str | None, int]:
    size, pos = _uvarint(buf, pos)
    if size == 0:
        return None, pos
    stop = pos + size - 1
    if stop > end:
        raise MalformedMessage("too short")
    return str(buf[pos:stop], "utf-8"), stop


def read_produce_request(buf: memoryview, pos: int, end: int) -> tuple[ProduceRequest, int]:
    """ProduceRequest v9."""
    transactional_id, pos = _text(buf, pos, end)
    acks, timeout_ms = _ACKS_TIMEOUT(buf, pos)
    count, pos = _uvarint(buf, pos + 6)
    topics = []
    for _ in range(count - 1):
        name, pos = _text(buf, pos, end)
        count, pos = _uvarint(buf, pos)
        partitions = []
        for _ in range(count - 1):
            (index,) = _INDEX(buf, pos)
            size, pos = _uvarint(buf, pos + 4)
            stop = pos + size - 1
            if stop > end:
                raise MalformedMessage("too short")
            partitions.append(PartitionProduceData(index, buf[pos:stop]))
            pos = stop + 1
        topics.append(TopicProduceData(name or "", partition_data=partitions))
        pos += 1
    return ProduceRequest(transactional_id, acks, timeout_ms, topics), pos + 1


def write_produce_response(message: ProduceResponse, parts: list[bytes]) -> None:
    """ProduceResponse v9, for partitions without an error."""
    out = bytearray(uvarint(len(message.responses) + 1))
    for topic in message.responses:
        name = topic.name.encode()
        out += uvarint(len(name) + 1)
        out += name
        out += uvarint(len(topic.partition_responses) + 1)
        for each in topic.partition_responses:
            out += _PRODUCED(
                each.index, each.error_code, each.base_offset, each.log_append_time_ms, each.log_start_offset
            )
            out += b"\1\0\0"
        out += b"\0"
    out += message.throttle_time_ms.to_bytes(4, "big")
    out += b"\0"
    parts.append(bytes(out))


def read_fetch_request(buf: memoryview, pos: int, end: int) -> tuple[FetchRequest, int]:
    """FetchRequest v12, nothing forgotten."""
    replica, wait, least, most, isolation, session, epoch = _FETCH_HEAD(buf, pos)
    count, pos = _uvarint(buf, pos + 25)
    topics = []
    for _ in range(count - 1):
        name, pos = _text(buf, pos, end)
        count, pos = _uvarint(buf, pos)
        partitions = []
        for _ in range(count - 1):
            partitions.append(FetchPartition(*_FETCH_PARTITION(buf, pos)))
            pos += 33
        topics.append(FetchTopic(name or "", partitions=partitions))
        pos += 1
    rack, pos = _text(buf, pos + 1, end)
    return (
        FetchRequest(
            None, replica, None, wait, least, most, isolation, session, epoch, topics, [], rack or ""
        ),
        pos + 1,
    )


def write_fetch_response(message: FetchResponse, parts: list[Any]) -> None:
    """FetchResponse v12, for partitions without an error."""
    out = bytearray(_FETCHED_HEAD(message.throttle_time_ms, message.error_code, message.session_id))
    out += uvarint(len(message.responses) + 1)
    for topic in message.responses:
        name = topic.topic.encode()
        out += uvarint(len(name) + 1)
        out += name
        out += uvarint(len(topic.partitions) + 1)
        for each in topic.partitions:
            out += _FETCHED(
                each.partition_index,
                each.error_code,
                each.high_watermark,
                each.last_stable_offset,
                each.log_start_offset,
                0,
                each.preferred_read_replica,
            )
            if each.records is None:
                out += b"\0"
            else:
                out += uvarint(len(each.records) + 1)
                parts += (bytes(out), each.records)
                out = bytearray()
            out += b"\0"
        out += b"\0"
    out += b"\0"
    parts.append(bytes(out))


if __name__ == "__main__":
    main()
