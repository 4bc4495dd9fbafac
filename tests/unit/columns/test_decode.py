"""Batches become the columns that Spark's own source would show."""

from __future__ import annotations

import datetime

import pytest

from andiron.columns.decode import decode
from andiron.columns.schema import arrow_schema
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, iterate
from andiron.records.builder import BatchBuilder, build, retain
from andiron.records.record import Record, contents, keys_of

pytestmark = pytest.mark.usefixtures("either")

NOON = 1_700_000_000_000


def batch_of(*values, base_offset=0, **how):
    records = [Record(0, NOON + n, b"k%d" % n, value) for n, value in enumerate(values)]
    return Batch(build(records, base_offset=base_offset, **how))


def offsets(rows):
    return rows["offset"].to_pylist()


def test_a_record_becomes_a_row():
    rows = decode([batch_of(b"one", b"two", base_offset=7)], "orders", 3)

    assert rows.schema.equals(arrow_schema(headers=False))
    assert rows.slice(1).to_pylist() == [
        {
            "key": b"k1",
            "value": b"two",
            "topic": "orders",
            "partition": 3,
            "offset": 8,
            "timestamp": datetime.datetime.fromtimestamp(NOON // 1000, datetime.UTC)
            + datetime.timedelta(milliseconds=1),
            "timestampType": 0,
        }
    ]


def test_nothing_becomes_no_rows():
    for headers in (False, True):
        rows = decode([], "t", 0, headers=headers)

        assert rows.num_rows == 0
        assert rows.schema.equals(arrow_schema(headers))


def test_many_batches_become_one():
    raw = b"".join(bytes(build([Record(0, n, None, b"%d" % n)], base_offset=n)) for n in range(50))

    rows = decode(list(iterate(raw)), "t", 0)

    assert rows["value"].to_pylist() == [b"%d" % n for n in range(50)]
    assert offsets(rows) == list(range(50))


def test_nulls_stay_nulls_and_are_not_empty():
    records = [Record(0, 0, None, b""), Record(0, 0, b"", None)]

    rows = decode([Batch(build(records))], "t", 0)

    assert rows["key"].to_pylist() == [None, b""]
    assert rows["value"].to_pylist() == [b"", None]


@pytest.mark.parametrize("codec", range(5))
def test_packed_batches_are_unpacked(codec):
    batches = [batch_of(b"a" * 500, base_offset=0), batch_of(b"b" * 500, base_offset=1, codec=codec)]

    assert decode(batches, "t", 0)["value"].to_pylist() == [b"a" * 500, b"b" * 500]


def test_what_lies_outside_the_asked_offsets_is_left_out():
    batches = [batch_of(*[b"v"] * 10, base_offset=base) for base in (0, 10, 20)]

    assert offsets(decode(batches, "t", 0, start=8, end=22)) == list(range(8, 22))
    assert offsets(decode(batches, "t", 0, start=28)) == [28, 29]
    assert offsets(decode(batches, "t", 0, end=1)) == [0]
    assert offsets(decode(batches, "t", 0, start=30)) == []


def test_a_batch_outside_the_asked_offsets_is_not_even_unpacked():
    broken = batch_of(b"a" * 100, codec=4)
    broken.buf[70:] = bytes(len(broken.buf) - 70)

    assert offsets(decode([broken, batch_of(b"v", base_offset=1)], "t", 0, start=1)) == [1]


def test_gaps_that_compaction_left_stay():
    whole = batch_of(*[b"v"] * 6, base_offset=100)
    inside = contents(whole)
    spans = [(at.start, at.stop) for at in keys_of(whole) if at.offset in (101, 104)]

    for horizon in (None, NOON + 5000):
        rows = decode([Batch(retain(whole, inside, spans, delete_horizon=horizon))], "t", 0)

        assert offsets(rows) == [101, 104]
        assert rows["timestamp"].cast("int64").to_pylist() == [(NOON + 1) * 1000, (NOON + 4) * 1000]


def test_a_batch_that_compaction_emptied_has_no_rows():
    whole = batch_of(b"v")

    assert decode([Batch(retain(whole, b"", []))], "t", 0).num_rows == 0


def test_append_time_is_one_time_for_all():
    rows = decode(
        [Batch(build([Record(0, n, b"k", b"v") for n in range(3)], timestamp_type=1, max_timestamp=NOON))],
        "t",
        0,
    )

    assert set(rows["timestamp"].cast("int64").to_pylist()) == {NOON * 1000}
    assert rows["timestampType"].to_pylist() == [1, 1, 1]


def test_no_timestamp_is_shown_as_spark_shows_it():
    rows = decode([Batch(build([Record(0, -1, b"k", b"v")]))], "t", 0)

    last_of_1969 = datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000, datetime.UTC)
    assert rows["timestamp"].to_pylist() == [last_of_1969]


def test_a_time_beyond_what_microseconds_tell_is_refused():
    with pytest.raises(ProtocolError, match="CORRUPT_MESSAGE"):
        decode([Batch(build([Record(0, 1 << 60, b"k", b"v")]))], "t", 0)


def test_headers_become_a_list_and_their_absence_a_null():
    records = [
        Record(0, 0, b"k", b"v", (("a", b"1"), ("b", None), ("", b""))),
        Record(0, 0, b"k", b"v"),
        Record(0, 0, None, None, (("ä", b"2"),)),
    ]

    rows = decode([Batch(build(records))], "t", 0, headers=True, start=0)

    assert rows.schema.equals(arrow_schema(headers=True))
    assert rows["headers"].to_pylist() == [
        [{"key": "a", "value": b"1"}, {"key": "b", "value": None}, {"key": "", "value": b""}],
        None,
        [{"key": "ä", "value": b"2"}],
    ]
    assert decode([Batch(build(records))], "t", 0, headers=True, start=2)["headers"].to_pylist() == [
        [{"key": "ä", "value": b"2"}]
    ]


def test_a_header_key_that_is_no_text_is_shown_as_java_reads_it():
    raw = build([Record(0, 0, b"k", b"v", (("abc", b"1"), ("ok", b"2")))])
    at = raw.index(b"abc")
    raw[at : at + 3] = b"a\xffc"

    rows = decode([Batch(raw)], "t", 0, headers=True)

    assert [header["key"] for header in rows["headers"][0].as_py()] == ["a\ufffdc", "ok"]


def test_two_halves_of_a_letter_in_two_keys_are_no_letter():
    raw = build([Record(0, 0, b"k", b"v", (("xa", b""), ("by", b"")))])
    raw[raw.index(b"xa") + 1], raw[raw.index(b"by")] = "é".encode()

    rows = decode([Batch(raw)], "t", 0, headers=True)

    assert [header["key"] for header in rows["headers"][0].as_py()] == ["x\ufffd", "\ufffdy"]


def test_headers_not_asked_for_are_not_looked_into():
    raw = build([Record(0, 0, b"k", b"v", (("abc", b"1"),))])
    raw[raw.index(b"abc") - 1] = 0x7F  # a key longer than its record

    assert decode([Batch(raw)], "t", 0).num_rows == 1
    with pytest.raises(ProtocolError) as caught:
        decode([Batch(raw)], "t", 0, headers=True)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_a_batch_that_is_cut_short_is_refused():
    raw = build([Record(0, 0, b"k", b"v" * 50)])

    with pytest.raises(ProtocolError, match="CORRUPT_MESSAGE"):
        decode([Batch(raw[:-1])], "t", 0)


def test_more_records_than_there_is_room_for_are_refused():
    raw = build([Record(0, 0, b"k", b"v" * 50)])
    raw[57:61] = (1 << 30).to_bytes(4, "big")

    with pytest.raises(ProtocolError, match="CORRUPT_MESSAGE"):
        decode([Batch(raw)], "t", 0)


def test_damaged_compression_is_refused():
    raw = build([Record(0, 0, b"k", b"v" * 500)], codec=3)
    raw[80:] = bytes(len(raw) - 80)

    with pytest.raises(ProtocolError, match="CORRUPT_MESSAGE"):
        decode([Batch(raw)], "t", 0)


def test_offsets_given_by_hand_are_kept():
    builder = BatchBuilder(base_offset=1000)
    for offset in (1000, 1003, 1100):
        builder.append(NOON, b"k", b"v", offset=offset)

    assert offsets(decode([Batch(builder.build())], "t", 0)) == [1000, 1003, 1100]
