"""The requests of a transaction by hand, for what no client library would say; see frames.py.

    FindCoordinator 4 · InitProducerId 2-6 · AddPartitionsToTxn 3 · AddOffsetsToTxn 3
    TxnOffsetCommit 3-5 · EndTxn 3-5 · DescribeTransactions 0

A version is chosen where it changes what the broker does: from Produce 12, TxnOffsetCommit 5 and EndTxn 5 on, a
request belongs to transaction version 2 (KIP-890), and InitProducerId 6 speaks of two-phase commit (KIP-939).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from peers.frames import NO_TAGS, Reader, array, frame, text

FIND_COORDINATOR, INIT_PRODUCER_ID, ADD_PARTITIONS, ADD_OFFSETS, END_TXN, TXN_OFFSET_COMMIT = (
    10,
    22,
    24,
    25,
    26,
    28,
)
DESCRIBE_TRANSACTIONS = 65
GROUP, TRANSACTION = 0, 1


@dataclass(frozen=True, slots=True)
class Identity:
    """What a producer shows with every request; a forged one differs in a field."""

    transactional_id: str
    producer: int = -1
    epoch: int = -1

    def encoded(self) -> bytes:
        return text(self.transactional_id) + struct.pack(">qh", self.producer, self.epoch)


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer to InitProducerId; `ongoing` is what a kept transaction was written with."""

    error: int
    producer: int
    epoch: int
    ongoing: tuple[int, int] = (-1, -1)


def find_coordinator(key: str, kind: int = TRANSACTION) -> bytes:
    return frame(FIND_COORDINATOR, 4, struct.pack(">b", kind) + array([text(key)]) + NO_TAGS)


def read_find_coordinator(answer: bytes) -> int:
    """The error of the only key."""
    reader = _answered(answer)
    reader.count(), reader.bytes(), reader.take("i"), reader.bytes(), reader.take("i")
    return reader.take("h")[0]


def init_producer_id(
    identity: Identity,
    timeout_ms: int = 60_000,
    *,
    version: int = 4,
    two_phase: bool = False,
    keep_prepared: bool = False,
) -> bytes:
    body = text(identity.transactional_id) + struct.pack(">i", timeout_ms)
    if version >= 3:
        body += struct.pack(">qh", identity.producer, identity.epoch)
    if version >= 6:
        body += struct.pack(">??", two_phase, keep_prepared)
    return frame(INIT_PRODUCER_ID, version, body + NO_TAGS)


def read_init_producer_id(answer: bytes, version: int = 4) -> Opened:
    reader = _answered(answer)
    error, producer, epoch = reader.take("hqh")
    if version < 6:
        return Opened(error, producer, epoch)
    ongoing, ongoing_epoch = reader.take("qh")
    return Opened(error, producer, epoch, (ongoing, ongoing_epoch))


def add_partitions(identity: Identity, topics: Mapping[str, list[int]]) -> bytes:
    wanted = array(
        [
            text(topic) + array([struct.pack(">i", number) for number in numbers]) + NO_TAGS
            for topic, numbers in topics.items()
        ]
    )
    return frame(ADD_PARTITIONS, 3, identity.encoded() + wanted + NO_TAGS)


def add_offsets(identity: Identity, group: str) -> bytes:
    return frame(ADD_OFFSETS, 3, identity.encoded() + text(group) + NO_TAGS)


def commit_offsets(
    identity: Identity,
    group: str,
    topics: Mapping[str, Mapping[int, int]],
    *,
    version: int = 3,
    generation: int = -1,
    member: str = "",
    instance: str | None = None,
) -> bytes:
    """Topic → partition → offset."""
    who = (
        text(identity.transactional_id) + text(group) + struct.pack(">qh", identity.producer, identity.epoch)
    )
    who += struct.pack(">i", generation) + text(member) + text(instance)
    wanted = array(
        [
            text(topic)
            + array(
                [
                    struct.pack(">iqi", number, offset, -1) + text(None) + NO_TAGS
                    for number, offset in offsets.items()
                ]
            )
            + NO_TAGS
            for topic, offsets in topics.items()
        ]
    )
    return frame(TXN_OFFSET_COMMIT, version, who + wanted + NO_TAGS)


def end_txn(identity: Identity, *, commit: bool, version: int = 3) -> bytes:
    return frame(END_TXN, version, identity.encoded() + struct.pack(">?", commit) + NO_TAGS)


def read_error(answer: bytes) -> int:
    """Of AddOffsetsToTxn, and of EndTxn where no identity comes back."""
    return _answered(answer).take("h")[0]


def read_end_txn(answer: bytes) -> tuple[int, int, int]:
    """Of EndTxn 5: error, and the producer id and epoch to go on with."""
    error, producer, epoch = _answered(answer).take("hqh")
    return error, producer, epoch


def read_partitions(answer: bytes) -> dict[str, dict[int, int]]:
    """Topic → partition → error; AddPartitionsToTxn 3 and TxnOffsetCommit answer alike."""
    reader = _answered(answer)
    found: dict[str, dict[int, int]] = {}
    for _ in range(reader.count()):
        errors = found.setdefault(reader.bytes().decode(), {})
        for _ in range(reader.count()):
            number, error = reader.take("ih")
            errors[number] = error
            reader.tags()
        reader.tags()
    return found


def describe_transaction(transactional_id: str) -> bytes:
    return frame(DESCRIBE_TRANSACTIONS, 0, array([text(transactional_id)]) + NO_TAGS)


def read_described(answer: bytes) -> tuple[int, str]:
    """Error and state of the only transaction asked for."""
    reader = _answered(answer)
    reader.count()
    (error,) = reader.take("h")
    reader.bytes()
    return error, reader.bytes().decode()


def _answered(answer: bytes) -> Reader:
    """Past the correlation id, the tags and the throttle time, with which every one of these answers begins."""
    reader = Reader(answer)
    reader.take("i")
    reader.tags()
    reader.take("i")
    return reader
