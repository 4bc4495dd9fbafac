"""Batches out of records, and out of other batches."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.builder import BatchBuilder, build, recompress, record_bytes_max, retain
from andiron.records.record import Record, contents, keys_of, records_of

RECORDS = [
    Record(0, 5000, b"a", b"1", (("h", b"x"),)),
    Record(1, 7000, b"b", None),
    Record(2, 4000, b"a", b"2" * 100),
    Record(3, 6000, b"c", b"3"),
]


def keep(batch, *offsets, **more):
    """The batch with only the records at these offsets."""
    data = contents(batch)
    spans = [(at.start, at.stop) for at in keys_of(batch, data) if at.offset in offsets]
    return Batch(retain(batch, data, spans, **more))


def identity(batch):
    """What a batch made from another has in common with it."""
    return (
        batch.base_offset,
        batch.last_offset,
        batch.leader_epoch,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.is_transactional,
        batch.is_control,
        batch.timestamp_type,
    )


def test_the_header_says_what_the_records_are():
    batch = Batch(build(RECORDS, base_offset=50, leader_epoch=3))

    assert (batch.base_offset, batch.last_offset, batch.count, batch.leader_epoch) == (50, 53, 4, 3)
    assert (batch.base_timestamp, batch.max_timestamp) == (5000, 7000)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (-1, -1, -1)
    assert batch.attributes == 0
    assert batch.is_intact()


def test_records_are_numbered_whatever_offsets_they_had():
    strangers = [record._replace(offset=900) for record in RECORDS]

    assert [r.offset for r in records_of(Batch(build(strangers, base_offset=50)))] == [50, 51, 52, 53]


def test_a_producer_is_named():
    batch = Batch(build(RECORDS, producer_id=2**40, producer_epoch=9, base_sequence=77, transactional=True))

    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (2**40, 9, 77)
    assert (batch.last_sequence, batch.is_transactional) == (80, True)


def test_a_producer_may_be_named_at_the_end():
    builder = BatchBuilder()
    builder.append(1, b"k", b"v")
    builder.set_producer(5, 6, 7)

    batch = Batch(builder.build())

    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (5, 6, 7)


def test_append_time_takes_the_place_of_the_latest_timestamp():
    batch = Batch(build(RECORDS, timestamp_type=1, max_timestamp=8888))

    assert (batch.base_timestamp, batch.max_timestamp) == (5000, 8888)
    assert {r.timestamp for r in records_of(batch)} == {8888}


def test_a_delete_horizon_takes_the_place_of_the_base_timestamp():
    batch = Batch(build(RECORDS, delete_horizon=123_456))

    assert batch.delete_horizon == batch.base_timestamp == 123_456
    assert [r.timestamp for r in records_of(batch)] == [5000, 7000, 4000, 6000]


def test_a_builder_knows_its_size():
    builder = BatchBuilder()
    assert builder.size == 61

    for record in RECORDS:
        before = builder.size
        builder.append(record.timestamp, record.key, record.value, record.headers)
        assert builder.size - before <= record_bytes_max(record.key, record.value, record.headers)

    assert len(builder.build()) == builder.size


def test_a_builder_gives_each_record_its_offset():
    builder = BatchBuilder(base_offset=10)

    assert builder.append(1, None, b"x") == 10
    assert builder.append(1, None, b"x", offset=15) == 15
    assert builder.append(1, None, b"x") == 16
    assert builder.count == 3


@pytest.mark.parametrize("offset", [9, 10, 11])
def test_offsets_only_rise(offset):
    builder = BatchBuilder(base_offset=10)
    builder.append(1, None, b"x", offset=11)

    with pytest.raises(ProtocolError) as refused:
        builder.append(1, None, b"x", offset=offset)

    assert refused.value.code is ErrorCode.INVALID_RECORD


def test_headers_may_come_from_anything_that_can_be_walked():
    builder = BatchBuilder()
    builder.append(1, b"k", b"v", iter([("a", b"1"), ("b", None)]))
    builder.append(1, b"k", b"v", [])

    first, second = records_of(Batch(builder.build()))

    assert first.headers == (("a", b"1"), ("b", None))
    assert second.headers == ()


def test_text_that_utf8_cannot_hold_is_replaced():
    batch = Batch(build([Record(0, 1, b"k", b"v", (("\ud800", b"1"),))]))

    assert next(records_of(batch)).headers == (("?", b"1"),)


@pytest.mark.parametrize(
    "fields",
    [{"producer_id": 2**63}, {"producer_epoch": 2**15}, {"base_offset": 2**63}, {"base_sequence": 2**31}],
)
def test_what_a_header_cannot_hold_is_refused(fields):
    with pytest.raises(ProtocolError):
        build(RECORDS, **fields)


def test_times_too_far_apart_are_refused():
    with pytest.raises(ProtocolError):
        build([Record(0, -(2**63), None, None), Record(0, 2**63 - 1, None, None)])


@pytest.mark.parametrize("before", range(5))
@pytest.mark.parametrize("after", range(5))
def test_another_codec_changes_nothing_else(before, after):
    batch = Batch(
        build(
            RECORDS,
            base_offset=9,
            leader_epoch=4,
            codec=before,
            producer_id=3,
            producer_epoch=2,
            base_sequence=1,
        )
    )

    again = Batch(recompress(batch, after))

    assert again.codec == after
    assert again.is_intact()
    assert identity(again) == identity(batch)
    assert (again.base_timestamp, again.max_timestamp) == (batch.base_timestamp, batch.max_timestamp)
    assert list(records_of(again)) == list(records_of(batch))


def test_another_codec_takes_its_level():
    batch = Batch(build([Record(0, 1, b"k", b"".join(b"%d " % n for n in range(10_000)))]))

    assert len(recompress(batch, 4, level=19)) < len(recompress(batch, 4, level=1))


def test_a_bomb_is_not_repacked():
    batch = Batch(build([Record(0, 1, b"k", bytes(100_000))], codec=4))

    with pytest.raises(ProtocolError):
        recompress(batch, 1, cap=50_000)


@pytest.mark.parametrize("codec", range(5))
def test_retained_records_keep_their_offsets_and_the_batch_its_range(codec):
    batch = Batch(
        build(
            RECORDS,
            base_offset=100,
            leader_epoch=4,
            codec=codec,
            producer_id=3,
            producer_epoch=2,
            base_sequence=1,
            transactional=True,
        )
    )

    kept = keep(batch, 101, 102)

    assert list(records_of(kept)) == [r for r in records_of(batch) if r.offset in (101, 102)]
    assert identity(kept) == identity(batch)
    assert (kept.count, kept.codec, kept.last_sequence) == (2, codec, batch.last_sequence)
    assert kept.is_intact()


def test_the_latest_timestamp_is_that_of_what_is_left():
    batch = Batch(build(RECORDS))

    assert keep(batch, 0, 2).max_timestamp == 5000
    assert keep(batch, 2).max_timestamp == 4000


def test_under_append_time_the_latest_timestamp_stays():
    batch = Batch(build(RECORDS, timestamp_type=1, max_timestamp=8888))

    assert keep(batch, 2).max_timestamp == 8888


def test_a_delete_horizon_given_while_retaining_moves_no_timestamp():
    batch = Batch(build(RECORDS))

    kept = keep(batch, 1, 3, delete_horizon=99_000)

    assert kept.delete_horizon == 99_000
    assert [(r.offset, r.timestamp, r.key, r.value) for r in records_of(kept)] == [
        (1, 7000, b"b", None),
        (3, 6000, b"c", b"3"),
    ]
    assert kept.max_timestamp == 7000


def test_a_delete_horizon_once_given_stays():
    batch = Batch(build(RECORDS, delete_horizon=99_000))

    assert keep(batch, 1).delete_horizon == 99_000
    assert [r.timestamp for r in records_of(keep(batch, 1))] == [7000]


def test_a_batch_that_loses_all_its_records_keeps_its_header():
    batch = Batch(build(RECORDS, base_offset=100, codec=3, producer_id=3, producer_epoch=2, base_sequence=1))

    empty = keep(batch)

    assert (empty.size, empty.count, empty.codec) == (61, 0, 0)
    assert identity(empty) == identity(batch)
    assert (empty.base_timestamp, empty.max_timestamp) == (7000, 7000)
    assert empty.is_intact()
    assert list(records_of(empty)) == []
