"""A transactional producer that says exactly what it is told, over one connection.

It keeps what a real one keeps, identity and sequence numbers, and lets a test forge either. Only what every
client does by itself it does too: ask again while a coordinator is being found, loads, or is still busy with the
end of the transaction before. Each call answers with error codes.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from peers import frames, transaction_frames
from peers.raw import Raw
from peers.transaction_frames import Identity, Opened

Answer = TypeVar("Answer")
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS
SOON = {14, 15, 16, 51}
PATIENCE_S = 60.0
# The last versions in which a transaction is told of its partitions beforehand, and the first without.
CLASSIC, IMPLICIT = 11, 12


class RawProducer:
    """One transactional id on one connection."""

    def __init__(self, link: Raw, transactional_id: str) -> None:
        self.link = link
        self.identity = Identity(transactional_id)
        self.sequences: Counter[tuple[str, int]] = Counter()

    def open(self, timeout_ms: int = 60_000, *, version: int = 4, **flags: Any) -> Opened:
        """InitProducerId; what it grants is the identity from here on."""
        name = self.identity.transactional_id
        self.find(name)
        opened = self.insist(
            transaction_frames.init_producer_id(Identity(name), timeout_ms, version=version, **flags),
            lambda answer: transaction_frames.read_init_producer_id(answer, version),
            lambda opened: opened.error,
        )
        if not opened.error:
            self.go_on_with(opened.producer, opened.epoch)
        return opened

    def find(self, key: str, kind: int = transaction_frames.TRANSACTION) -> None:
        """Wait until somebody coordinates this transactional id, or this group."""
        asked = transaction_frames.find_coordinator(key, kind)
        assert not self.insist(asked, transaction_frames.read_find_coordinator, _itself)

    def go_on_with(self, producer: int, epoch: int) -> None:
        """Take up another identity; with every epoch the sequence numbers begin anew."""
        self.identity = dataclasses.replace(self.identity, producer=producer, epoch=epoch)
        self.sequences.clear()

    def add(
        self, topics: Mapping[str, list[int]], identity: Identity | None = None
    ) -> dict[str, dict[int, int]]:
        asked = transaction_frames.add_partitions(identity or self.identity, topics)
        return self.insist(asked, transaction_frames.read_partitions, _first)

    def add_offsets(self, group: str, identity: Identity | None = None) -> int:
        asked = transaction_frames.add_offsets(identity or self.identity, group)
        return self.insist(asked, transaction_frames.read_error, _itself)

    def commit_offsets(
        self, group: str, topic: str, offset: int, *, identity: Identity | None = None, **fields: Any
    ) -> int:
        asked = transaction_frames.commit_offsets(
            identity or self.identity, group, {topic: {0: offset}}, **fields
        )
        return self.insist(asked, transaction_frames.read_partitions, _first)[topic][0]

    def produce(
        self,
        topic: str,
        value: bytes,
        *,
        partition: int = 0,
        version: int = CLASSIC,
        identity: Identity | None = None,
        transactional: bool = True,
    ) -> int:
        who = identity or self.identity
        sequence = self.sequences[topic, partition]
        batch = frames.batch(
            [value], producer=(who.producer, who.epoch, sequence), transactional=transactional
        )
        name = who.transactional_id if transactional else None
        asked = frames.produce(topic, {partition: batch}, acks=-1, transactional_id=name, version=version)
        error = self.insist(asked, lambda answer: frames.read_produce(answer)[partition][0], _itself)
        if not error and who == self.identity:
            self.sequences[topic, partition] += 1
        return error

    def end(self, *, commit: bool, version: int = 3, identity: Identity | None = None) -> int:
        """EndTxn; from version 5 on, an answer without error carries the identity to go on with."""
        if version >= 5:
            error, producer, epoch = self.end_implicit(identity or self.identity, commit=commit)
            if not error and identity is None:
                self.go_on_with(producer, epoch)
            return error
        asked = transaction_frames.end_txn(identity or self.identity, commit=commit, version=version)
        return self.insist(asked, transaction_frames.read_error, _itself)

    def end_implicit(self, identity: Identity, *, commit: bool) -> tuple[int, int, int]:
        """EndTxn 5, answered with an error, a producer id and an epoch."""
        asked = transaction_frames.end_txn(identity, commit=commit, version=5)
        return self.insist(asked, transaction_frames.read_end_txn, lambda answer: answer[0])

    def insist(
        self, request: bytes, read: Callable[[bytes], Answer], error_of: Callable[[Answer], int]
    ) -> Answer:
        """Ask until the answer is more than "soon"."""
        until = time.monotonic() + PATIENCE_S
        while True:
            answer = read(self.link.ask(request))
            if error_of(answer) not in SOON or time.monotonic() > until:
                return answer
            time.sleep(0.02)


def _itself(error: int) -> int:
    return error


def _first(answer: dict[str, dict[int, int]]) -> int:
    return next(error for errors in answer.values() for error in errors.values())
