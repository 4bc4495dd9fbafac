"""Rows become the batches that a loop over BatchBuilder would make."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from andiron.columns.decode import decode
from andiron.columns.encode import NOBODY, ProducerFields, encode
from andiron.columns.schema import HEADER, HEADERS
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record, records_of

pytestmark = pytest.mark.usefixtures("either")

NOON = 1_700_000_000_000
PLAIN = {"codec": 0, "batch_bytes": 16384, "now": NOON}


def test_the_bytes_are_those_of_the_builder():
    records = [Record(0, NOON + n, b"k%d" % n, b"v" * n) for n in range(100)]
    rows = pa.record_batch(
        {
            "key": pa.array([record.key for record in records], pa.binary()),
            "value": pa.array([record.value for record in records], pa.binary()),
            "timestamp": pa.array([record.timestamp * 1000 for record in records], pa.timestamp("us", "UTC")),
        }
    )

    (encoded,) = encode(rows, **PLAIN)

    assert encoded == (build(records), 100, -1)


def test_no_rows_make_no_batch():
    assert encode(pa.record_batch({"value": pa.array([], pa.binary())}), **PLAIN) == []


def test_a_value_alone_is_enough():
    (encoded,) = encode(pa.record_batch({"value": pa.array([b"one", None])}), **PLAIN)

    assert list(records_of(Batch(encoded.data))) == [
        Record(0, NOON, None, b"one"),
        Record(1, NOON, None, None),
    ]


def test_a_batch_is_closed_before_it_is_too_large():
    rows = pa.record_batch({"value": pa.array([b"v" * 100] * 1000)})

    batches = encode(rows, codec=0, batch_bytes=1000, now=NOON)

    sizes = [len(each.data) for each in batches]
    assert sum(each.records for each in batches) == 1000
    assert max(sizes) <= 1000
    assert min(sizes[:-1]) > 1000 - 108


def test_a_record_larger_than_a_batch_has_one_to_itself():
    rows = pa.record_batch({"value": pa.array([b"a", b"v" * 5000, b"b"])})

    batches = encode(rows, codec=0, batch_bytes=100, now=NOON)

    assert [each.records for each in batches] == [1, 1, 1]


def test_sequences_go_on_from_batch_to_batch_and_begin_anew_after_the_last():
    rows = pa.record_batch({"value": pa.array([b"v" * 30] * 5)})
    producer = ProducerFields(7, 2, (1 << 31) - 3, transactional=True)

    batches = encode(rows, codec=0, batch_bytes=61 + 2 * 37, now=NOON, producer=producer)

    assert [each.records for each in batches] == [2, 2, 1]
    assert [each.base_sequence for each in batches] == [(1 << 31) - 3, (1 << 31) - 1, 1]
    for each in batches:
        batch = Batch(each.data)
        assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 2, each.base_sequence)
        assert batch.is_transactional
        assert batch.is_intact()


def test_nobody_has_no_sequence():
    rows = pa.record_batch({"value": pa.array([b"v"] * 3)})

    batches = encode(rows, codec=0, batch_bytes=62, now=NOON, producer=NOBODY)

    assert [each.base_sequence for each in batches] == [-1, -1, -1]


@pytest.mark.parametrize("codec", range(5))
def test_every_codec_is_read_back(codec):
    rows = pa.record_batch({"value": pa.array([b"v" * 200] * 300)})

    batches = encode(rows, codec=codec, batch_bytes=16384, now=NOON)

    back = decode([Batch(each.data) for each in batches], "t", 0)
    assert back["value"].equals(rows["value"])
    assert {Batch(each.data).codec for each in batches} == {codec}


def test_chosen_rows_are_written_in_the_order_chosen():
    header = [{"key": "h", "value": b"1"}]
    rows = pa.record_batch(
        {
            "key": pa.array([b"a", None, b"c", b"d"]),
            "value": pa.array([b"0", b"1", b"2", b"3"]),
            "headers": pa.array([None, header, [], header * 2], HEADERS),
            "timestamp": pa.array([0, 1000, 2000, None], pa.timestamp("us")),
        }
    )

    (encoded,) = encode(rows, **PLAIN, indices=np.array([3, 1], np.int32))

    assert list(records_of(Batch(encoded.data))) == [
        Record(0, NOON, b"d", b"3", (("h", b"1"), ("h", b"1"))),
        Record(1, 1, None, b"1", (("h", b"1"),)),
    ]


def test_headers_that_lie_anywhere_are_found():
    structs = pa.array([{"key": f"{n}", "value": b"%d" % n} for n in range(6)], HEADER)
    for lists in (
        pa.ListArray.from_arrays([0, 2, 3], structs.slice(2)),
        pa.LargeListArray.from_arrays([2, 4, 5], structs),
        pa.ListArray.from_arrays([0, 2, 4, 5], structs).slice(1),
        pa.ListArray.from_arrays(
            [0, 2, 4, 5], pa.StructArray.from_arrays(structs.flatten(), ["key", "value"])
        ).slice(1),
    ):
        (encoded,) = encode(pa.record_batch({"value": pa.array([b"a", b"b"]), "headers": lists}), **PLAIN)

        assert [record.headers for record in records_of(Batch(encoded.data))] == [
            (("2", b"2"), ("3", b"3")),
            (("4", b"4"),),
        ]


def test_what_was_decoded_is_encoded_to_the_same_bytes():
    records = [
        Record(0, NOON, b"k", b"v", (("a", b"1"), ("b", None))),
        Record(0, -1, None, None),
        Record(0, NOON - 5, b"", b"", (("é", b""),)),
    ]
    raw = build(records)

    (encoded,) = encode(decode([Batch(raw)], "t", 0, headers=True), **PLAIN)

    assert encoded.data == raw


def test_a_row_that_cannot_be_a_record_is_refused():
    for rows in (
        pa.record_batch({"key": pa.array([b"k"])}),
        pa.record_batch({"value": pa.array([1])}),
        pa.record_batch({"value": pa.array([b"v"]), "headers": pa.array([b"h"])}),
    ):
        with pytest.raises(ProtocolError) as caught:
            encode(rows, **PLAIN)
        assert caught.value.code is ErrorCode.INVALID_RECORD
