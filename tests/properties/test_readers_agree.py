"""Readers of records and of columns give what a list would, of any log: one with transactions of several producers that
were committed, aborted or left open, with markers, with records and whole batches that compaction took, packed or not,
in answers of any size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.blocking.reader import PartitionReader
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import BatchBuilder
from andiron.records.control import end_marker
from andiron.wire.apis import ApiKey
from andiron.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from properties.effort import tries
from unit.client.scripted import ScriptedBroker

PLACE = TopicPartition("t", 0)
ZSTD = 4
LOOSE = -1  # a producer without transactions

Seen = list[tuple[int, bytes | None]]

data = st.tuples(
    st.sampled_from([LOOSE, 1, 2]),
    st.lists(st.booleans(), min_size=1, max_size=4),  # which records compaction has left
    st.sampled_from([0, ZSTD]),
    st.integers(0, 2),  # offsets of batches that compaction took
)
ends = st.tuples(st.sampled_from([1, 2]), st.booleans())


@dataclass
class World:
    """A partition, written step by step, and what its readers should see."""

    end: int = 0
    batches: list[bytes] = field(default_factory=list)
    open: dict[int, tuple[int, Seen]] = field(default_factory=dict)  # first offset and records
    aborted: list[tuple[int, int, int]] = field(default_factory=list)  # producer, first, marker
    everything: Seen = field(default_factory=list)
    committed: Seen = field(default_factory=list)
    batches_an_answer: int = 1

    def write(self, producer: int, left: list[bool], codec: int, gap: int) -> None:
        self.end += gap
        transactional = producer != LOOSE
        builder = BatchBuilder(
            base_offset=self.end, codec=codec, producer_id=producer, transactional=transactional
        )
        kept: Seen = []
        for offset, is_left in enumerate(left, self.end):
            if is_left:
                kept.append((offset, b"%d" % offset))
                builder.append(1000, None, kept[-1][1], offset=offset)
        self.batches.append(bytes(builder.build(last_offset=self.end + len(left) - 1)))
        if transactional:
            self.open.setdefault(producer, (self.end, []))[1].extend(kept)
        else:
            self.committed += kept
        self.everything += kept
        self.end += len(left)

    def finish(self, producer: int, commit: bool) -> None:
        first, kept = self.open.pop(producer, (self.end, []))
        marker = end_marker(
            commit,
            producer_id=producer,
            producer_epoch=0,
            coordinator_epoch=0,
            timestamp=1000,
            base_offset=self.end,
        )
        self.batches.append(bytes(marker))
        if commit:
            self.committed += kept
        else:
            self.aborted.append((producer, first, self.end))
        self.end += 1

    @property
    def stable_end(self) -> int:
        return min([self.end, *(first for first, _ in self.open.values())])

    def expected(self, start: int, end: int, *, committed: bool) -> Seen:
        seen = self.committed if committed else self.everything
        return sorted((offset, value) for offset, value in seen if start <= offset < end)

    def fetch(self, request: Any) -> FetchResponse:
        """As a broker answers."""
        asked = request.topics[0].partitions[0].fetch_offset
        limit = self.stable_end if request.isolation_level else self.end
        found = [each for each in self.batches if asked <= Batch(each).last_offset < limit]
        found = found[: self.batches_an_answer]
        upto = Batch(found[-1]).last_offset if found else asked
        aborted = [
            AbortedTransaction(producer, first)
            for producer, first, marker in self.aborted
            if first <= upto and marker >= asked
        ]
        told = PartitionData(
            0,
            0,
            self.end,
            self.stable_end,
            aborted_transactions=aborted if request.isolation_level else None,
            records=b"".join(found),
        )
        topic = FetchableTopicResponse(topic_id=request.topics[0].topic_id, partitions=[told])
        return FetchResponse(responses=[topic])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World(batches_an_answer=draw(st.sampled_from([1, 2, 3, 5, 100])))
    for step in draw(st.lists(data | ends, min_size=1, max_size=25)):
        if len(step) == 2:
            world.finish(*step)
        else:
            world.write(*step)
    return world


def by_records(client: Client, start: int, end: int, committed: bool) -> Seen:
    reader = PartitionReader(client, PLACE, start, end, committed=committed)
    found = [(record.offset, record.value) for record in reader]
    reader.close()
    return found


def by_columns(client: Client, start: int, end: int, committed: bool) -> Seen:
    with ColumnReader(client, PLACE, start, end, committed=committed) as reader:
        found = [
            (row["offset"], row["value"])
            for batch in reader
            for row in batch.select(["offset", "value"]).to_pylist()
        ]
    assert reader.position == max(start, end)
    return found


@settings(max_examples=tries(80), deadline=None)
@given(worlds(), st.data())
def test_readers_agree_on_any_log(world: World, data: st.DataObject) -> None:
    with ScriptedBroker() as broker:
        broker.topic("t")
        broker.on(ApiKey.FETCH, world.fetch)
        for committed, limit in ((False, world.end), (True, world.stable_end)):
            start = data.draw(st.just(0) | st.integers(0, limit))
            end = data.draw(st.just(limit) | st.integers(start, limit))
            expected = world.expected(start, end, committed=committed)
            with Client(broker.bootstrap) as client:
                assert by_records(client, start, end, committed) == expected
                assert by_columns(client, start, end, committed) == expected
