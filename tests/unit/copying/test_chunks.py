"""Batches passed on as they are, small ones together, and those made anew that no broker would take."""

from __future__ import annotations

from typing import Any

from andiron.client.core.outbox import ProducerIdentity
from andiron.copying.chunks import WHOLE_BYTES, Chunk, chunks_of, signed
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch, seal
from andiron.records.builder import BatchBuilder, retain
from andiron.records.compression import CODECS
from andiron.records.record import Record, contents, keys_of, records_of

P = TopicPartition("t", 0)
LARGE = b"x" * (2 * WHOLE_BYTES)


def batch(base: int, *values: bytes | None, codec: str = "none", **options: Any) -> Batch:
    builder = BatchBuilder(base_offset=base, codec=CODECS[codec], **options)
    for at, value in enumerate(values):
        builder.append(1_000 + base + at, b"key", value, [("h", b"v"), ("n", None)])
    return Batch(builder.build(max_timestamp=9_000 if options.get("timestamp_type") else None))


def compacted(base: int, *values: bytes, kept: set[int]) -> Batch:
    whole = batch(base, *values)
    spans = [(each.start, each.stop) for each in keys_of(whole) if each.offset in kept]
    return Batch(retain(whole, contents(whole), spans, delete_horizon=77))


def read(chunks: list[Chunk]) -> list[Record]:
    """What the target will have, as if its log began at 0 with each chunk."""
    return [record for chunk in chunks for record in records_of(Batch(chunk.data))]


def test_a_large_batch_goes_as_it_is_but_for_who_wrote_it() -> None:
    whole = batch(
        40, LARGE, None, codec="gzip", producer_id=7, producer_epoch=1, base_sequence=3, transactional=True
    )

    (chunk,) = chunks_of([whole], P, 40)

    assert chunk[:3] == (40, 42, 2)
    made = Batch(signed(chunk.data, ProducerIdentity(9, 2), 50))
    assert made.is_intact()
    assert made.payload == whole.payload
    assert (made.producer_id, made.producer_epoch, made.base_sequence) == (9, 2, 50)
    assert not made.is_transactional
    assert (made.base_timestamp, made.max_timestamp, made.codec) == (1_040, 1_041, CODECS["gzip"])


def test_small_batches_go_together_in_the_codec_they_had() -> None:
    chunks = chunks_of(
        [batch(0, b"a", None), batch(2, b"b"), batch(3, b"c", codec="lz4"), batch(4, b"d", codec="lz4")], P, 0
    )

    assert [chunk[:3] for chunk in chunks] == [(0, 3, 3), (3, 5, 2)]
    assert [Batch(chunk.data).codec for chunk in chunks] == [CODECS["none"], CODECS["lz4"]]
    assert [each.value for each in read(chunks)] == [b"a", None, b"b", b"c", b"d"]
    assert {each.headers for each in read(chunks)} == {(("h", b"v"), ("n", None))}
    assert [each.timestamp for each in read(chunks)] == [1_000, 1_001, 1_002, 1_003, 1_004]


def test_the_order_is_kept_between_large_and_small() -> None:
    chunks = chunks_of([batch(0, b"a"), batch(1, LARGE), batch(2, b"b"), batch(3, b"c")], P, 0)

    assert [chunk[:2] for chunk in chunks] == [(0, 1), (1, 2), (2, 4)]


def test_a_batch_with_gaps_is_made_anew_without_them() -> None:
    chunks = chunks_of([compacted(10, b"a", b"b", b"c", b"d", kept={11, 13})], P, 10)

    assert [chunk[:3] for chunk in chunks] == [(11, 14, 2)]
    assert [(each.value, each.timestamp) for each in read(chunks)] == [(b"b", 1_011), (b"d", 1_013)]
    assert Batch(chunks[0].data).last_offset_delta == 1


def test_what_lies_before_the_start_is_left_out() -> None:
    chunks = chunks_of([batch(0, b"a", b"b"), batch(2, LARGE, LARGE, b"c")], P, 3)

    assert [chunk[:3] for chunk in chunks] == [(3, 5, 2)]


def test_a_time_of_append_becomes_the_records_own() -> None:
    (chunk,) = chunks_of([batch(0, LARGE, b"b", timestamp_type=1)], P, 0)

    assert Batch(chunk.data).timestamp_type == 0
    assert [each.timestamp for each in read([chunk])] == [9_000, 9_000]


def test_a_chunk_is_one_batch_of_no_more_than_the_topic_takes() -> None:
    chunks = chunks_of([batch(at, b"y" * 400) for at in range(6)], P, 0, batch_bytes=1_000)

    assert [chunk[:3] for chunk in chunks] == [(0, 2, 2), (2, 4, 2), (4, 6, 2)]


def test_a_batch_of_which_only_the_header_is_left_is_nothing() -> None:
    assert chunks_of([compacted(0, b"a", kept=set())], P, 0) == []


def test_a_header_whose_name_is_no_text_stays_what_it_is() -> None:
    builder = BatchBuilder(base_offset=1)
    builder.append(5, None, b"v", [("XY", b"1")])
    data = builder.build()
    data[data.index(b"XY")] = 0xFF
    seal(data, 0, len(data))

    chunks = chunks_of([batch(0, b"a"), Batch(data), batch(2, b"b")], P, 0)

    assert [chunk[:3] for chunk in chunks] == [(0, 1, 1), (1, 2, 1), (2, 3, 1)]
    assert b"\xffY" in chunks[1].data
