"""Requests and answers by hand: the few bytes that a test or a load generator wants to choose itself.

Only what is needed, in one version each, written from the protocol guide and apart from the codec under test:

    ApiVersions 0 · Metadata 9 · Produce 9 · Fetch 12 · CreateTopics 5        (all but the first flexible)

A frame is `size | key, version, correlation, client | body`. The flexible versions count lengths in varints,
one too high so that zero can mean null, and end each structure with a count of tagged fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import google_crc32c

PRODUCE, FETCH, METADATA, API_VERSIONS, CREATE_TOPICS = 0, 1, 3, 18, 19
CLIENT = b"raw"
NO_TAGS = b"\x00"
HEAD = struct.Struct(">ihhih")
BATCH = struct.Struct(">qiibI")
BATCH_REST = struct.Struct(">hiqqqhii")


def frame(key: int, version: int, body: bytes, correlation: int = 0, *, flexible: bool = True) -> bytes:
    """A whole request, size included."""
    tags = NO_TAGS if flexible else b""
    size = HEAD.size - 4 + len(CLIENT) + len(tags) + len(body)
    return HEAD.pack(size, key, version, correlation, len(CLIENT)) + CLIENT + tags + body


def api_versions() -> bytes:
    return frame(API_VERSIONS, 0, b"", flexible=False)


def metadata(topics: Iterable[str], *, create: bool = False) -> bytes:
    names = [text(topic) + NO_TAGS for topic in topics]
    return frame(METADATA, 9, array(names) + bytes([create, 0, 0]) + NO_TAGS)


def produce(
    topic: str,
    batches: Mapping[int, bytes],
    *,
    acks: int = 1,
    timeout_ms: int = 30_000,
    correlation: int = 0,
    transactional_id: str | None = None,
    version: int = 9,
) -> bytes:
    """One topic, a record batch for each of some partitions; up to version 12 the layout is the same."""
    partitions = [struct.pack(">i", number) + sized(batch) + NO_TAGS for number, batch in batches.items()]
    topics = array([text(topic) + array(partitions) + NO_TAGS])
    body = text(transactional_id) + struct.pack(">hi", acks, timeout_ms) + topics + NO_TAGS
    return frame(PRODUCE, version, body, correlation)


def fetch(
    topic: str,
    offsets: Mapping[int, int],
    *,
    wait_ms: int = 500,
    min_bytes: int = 1,
    max_bytes: int = 1 << 26,
    partition_bytes: int = 1 << 20,
    session: int = 0,
    epoch: int = -1,
    forgotten: Iterable[int] = (),
    correlation: int = 0,
) -> bytes:
    """One topic; no session unless asked for (id 0, epoch 0 opens one)."""
    partitions = [
        struct.pack(">iiqiqi", number, -1, offset, -1, -1, partition_bytes) + NO_TAGS
        for number, offset in offsets.items()
    ]
    topics = [text(topic) + array(partitions) + NO_TAGS] if partitions else []
    gone = array([struct.pack(">i", number) for number in forgotten])
    forget = [text(topic) + gone + NO_TAGS] if forgotten else []
    limits = struct.pack(">iiiibii", -1, wait_ms, min_bytes, max_bytes, 0, session, epoch)
    body = limits + array(topics) + array(forget) + text("") + NO_TAGS
    return frame(FETCH, 12, body, correlation)


def create_topics(
    topics: Mapping[str, int], configs: Mapping[str, str] | None = None, *, replicas: int = 1
) -> bytes:
    """Topic → number of partitions; the same number of replicas and the same configs for all."""
    settings = array([text(name) + text(value) + NO_TAGS for name, value in (configs or {}).items()])
    wanted = [
        text(topic) + struct.pack(">ih", count, replicas) + array([]) + settings + NO_TAGS
        for topic, count in topics.items()
    ]
    return frame(CREATE_TOPICS, 5, array(wanted) + struct.pack(">i?", 60_000, False) + NO_TAGS)


def batch(
    values: Iterable[bytes | None],
    *,
    keys: Iterable[bytes | None] | None = None,
    timestamp: int = -1,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
) -> bytes:
    """An uncompressed record batch; `producer` is (id, epoch, first sequence)."""
    rows = list(values)
    names = list(keys) if keys is not None else [None] * len(rows)
    records = b"".join(_record(delta, names[delta], value) for delta, value in enumerate(rows))
    rest = (
        BATCH_REST.pack(transactional << 4, len(rows) - 1, timestamp, timestamp, *producer, len(rows))
        + records
    )
    return BATCH.pack(0, len(rest) + BATCH.size - 12, -1, 2, google_crc32c.value(rest)) + rest


def _record(delta: int, key: bytes | None, value: bytes | None) -> bytes:
    body = b"\x00\x00" + zigzag(delta) + _signed(key) + _signed(value) + b"\x00"
    return zigzag(len(body)) + body


def _signed(data: bytes | None) -> bytes:
    return zigzag(-1) if data is None else zigzag(len(data)) + data


def zigzag(number: int) -> bytes:
    return uvarint((number << 1) ^ (number >> 63))


def uvarint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def text(words: str | None) -> bytes:
    return b"\x00" if words is None else sized(words.encode())


def sized(data: bytes) -> bytes:
    return uvarint(len(data) + 1) + data


def array(items: list[bytes]) -> bytes:
    return uvarint(len(items) + 1) + b"".join(items)


class Reader:
    """Walks an answer from its correlation id on; of a view it takes views."""

    def __init__(self, answer: bytes | memoryview) -> None:
        self.data = answer
        self.at = 0

    def take(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from(">" + layout, self.data, self.at)
        self.at += struct.calcsize(">" + layout)
        return found

    def uvarint(self) -> int:
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def bytes(self) -> bytes:
        size = max(self.uvarint() - 1, 0)
        self.at += size
        found: Any = self.data[self.at - size : self.at]
        return found

    def tags(self) -> None:
        for _ in range(self.uvarint()):
            self.uvarint()
            size = self.uvarint()
            self.at += size

    def count(self) -> int:
        return max(self.uvarint() - 1, 0)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A fetch's answer: partition → (error, high watermark, record bytes)."""

    error: int
    session: int
    partitions: dict[int, tuple[int, int, bytes]] = field(default_factory=dict)


def read_fetch(answer: bytes | memoryview) -> Fetched:
    reader = Reader(answer)
    reader.take("i")
    reader.tags()
    _, error, session = reader.take("ihi")
    found: dict[int, tuple[int, int, bytes]] = {}
    for _ in range(reader.count()):
        reader.bytes()
        for _ in range(reader.count()):
            number, code, watermark, _, _ = reader.take("ihqqq")
            for _ in range(reader.count()):
                reader.take("qq")
                reader.tags()
            reader.take("i")
            found[number] = (code, watermark, reader.bytes())
            reader.tags()
        reader.tags()
    return Fetched(error, session, found)


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a produced batch, and which records are to blame if it was refused."""

    code: int
    offset: int
    records: list[int]
    message: str


def read_produce(answer: bytes) -> dict[int, tuple[int, int]]:
    """Partition → (error, first offset)."""
    return {number: (each.code, each.offset) for number, each in read_refusals(answer).items()}


def read_refusals(answer: bytes) -> dict[int, Answered]:
    """Partition → all that is said of it."""
    reader = Reader(answer)
    reader.take("i")
    reader.tags()
    found = {}
    for _ in range(reader.count()):
        reader.bytes()
        for _ in range(reader.count()):
            number, code, offset, _, _ = reader.take("ihqqq")
            blamed = []
            for _ in range(reader.count()):
                blamed += reader.take("i")
                reader.bytes()
                reader.tags()
            found[number] = Answered(code, offset, blamed, reader.bytes().decode())
            reader.tags()
        reader.tags()
    return found


def read_create_topics(answer: bytes) -> dict[str, int]:
    """Topic → error."""
    reader = Reader(answer)
    reader.take("i")
    reader.tags()
    reader.take("i")
    found = {}
    for _ in range(reader.count()):
        name = reader.bytes().decode()
        (found[name],) = reader.take("h")
        reader.bytes()
        reader.take("ih")
        for _ in range(reader.count()):
            reader.bytes(), reader.bytes(), reader.take("?b?")
            reader.tags()
        reader.tags()
    return found


def read_api_versions(answer: bytes) -> dict[int, tuple[int, int]]:
    """Key → (least version, greatest version)."""
    reader = Reader(answer)
    _, error, count = reader.take("ihi")
    assert error == 0, f"ApiVersions answered {error}"
    return {key: (low, high) for key, low, high in (reader.take("hhh") for _ in range(count))}


def batch_codecs(records: bytes) -> list[int]:
    """The codec number of each whole batch in some record bytes."""
    found, at = [], 0
    while at + 61 <= len(records):
        size, attributes = struct.unpack_from(">8xi9xh", records, at)
        found.append(attributes & 7)
        at += 12 + size
    return found
