"""Closed batches on their way out: numbered, in order, partition by partition.

    put ──▶ partition 0   ▯▯▯ ──▶ take
            partition 1   ▯

A closed batch is packed, numbered and never changed again: when it is sent a second time, the same bytes and
the same sequence let the broker see that it has it. Sequences count the records that one identity has
written to a partition, from 0; with another identity they begin anew.

The law: sequences of a partition are given in the order in which its batches are put, and that is the order in
which they are taken and must be sent.

Read next: accumulator.py, which closes batches record by record; ../blocking/sender.py, which takes them.
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import NamedTuple

from andiron.model.ids import TopicPartition

_SEQUENCES = 1 << 31  # after the last comes 0
NO_SEQUENCE = -1


class ProducerIdentity(NamedTuple):
    """Producer id and epoch of an idempotent producer; -1 for one that is not idempotent."""

    id: int = -1
    epoch: int = -1


NOBODY = ProducerIdentity()


class ClosedBatch(NamedTuple):
    """A batch as it is sent; `number` says in which order batches were closed."""

    number: int
    partition: TopicPartition
    data: bytearray
    records: int
    base_sequence: int


class Outbox:
    """Closed batches that are not yet sent, with their sequences."""

    def __init__(self, identity: ProducerIdentity = NOBODY, *, transactional: bool = False) -> None:
        self.identity, self.transactional = identity, transactional
        self.waiting: dict[TopicPartition, deque[ClosedBatch]] = {}
        self._sequences: dict[TopicPartition, int] = {}
        self._numbers = itertools.count()

    def sequence(self, partition: TopicPartition) -> int:
        """The sequence that the next batch of a partition must begin with; -1 without an identity."""
        return self._sequences.get(partition, 0) if self.identity.id >= 0 else NO_SEQUENCE

    def put(self, partition: TopicPartition, data: bytearray, records: int) -> None:
        """Add a batch that begins with the partition's `sequence`."""
        sequence = self.sequence(partition)
        if sequence != NO_SEQUENCE:
            self._sequences[partition] = (sequence + records) % _SEQUENCES
        batch = ClosedBatch(next(self._numbers), partition, data, records, sequence)
        self.waiting.setdefault(partition, deque()).append(batch)

    def continue_at(self, partition: TopicPartition, sequence: int) -> None:
        """Number the next batch of a partition from here on: its identity has written to it before."""
        self._sequences[partition] = sequence

    def take(self, partition: TopicPartition) -> ClosedBatch:
        """The oldest batch of a partition, which is then its taker's to deliver."""
        batches = self.waiting[partition]
        batch = batches.popleft()
        if not batches:
            del self.waiting[partition]
        return batch

    def identify(self, identity: ProducerIdentity) -> None:
        """Number what comes next under another identity; what still waits under the old one is given up."""
        self.identity = identity
        self.waiting.clear()
        self._sequences.clear()
