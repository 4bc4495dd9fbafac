"""The header as a view; stamping; walking batches that follow each other."""

from __future__ import annotations

import struct

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import HEADER, HEADER_SIZE, Batch, iterate, stamp, stamp_append_time
from andiron.records.builder import BatchBuilder, build
from andiron.records.record import Record, records_of

RECORDS = [Record(0, 1000, b"a", b"1"), Record(0, 1500, b"b", b"2"), Record(0, 1200, None, None)]


def refusal(act):
    with pytest.raises(ProtocolError) as refused:
        act()
    return refused.value.code


def test_the_header_is_61_bytes():
    assert HEADER.size == HEADER_SIZE == 61


def test_every_field_is_read():
    raw = HEADER.pack(100, 49, 7, 2, 0xDEADBEEF, 0x75, 4, 11, 22, 33, 44, 55, 5)

    batch = Batch(raw)

    assert (batch.base_offset, batch.size, batch.leader_epoch, batch.magic) == (100, 61, 7, 2)
    assert (batch.crc, batch.attributes, batch.last_offset_delta) == (0xDEADBEEF, 0x75, 4)
    assert (batch.base_timestamp, batch.max_timestamp) == (11, 22)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.count) == (33, 44, 55, 5)
    assert (batch.last_offset, batch.next_offset, batch.last_sequence) == (104, 105, 59)
    assert batch.codec == 5
    assert "100..104" in repr(batch)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_batch_is_a_view_into_any_buffer(kind):
    whole = build(RECORDS)
    buf = kind(b"before" + whole + b"after")

    batch = Batch(buf, len(b"before"))

    assert batch.raw == whole
    assert batch.payload == whole[HEADER_SIZE:]
    assert batch.is_intact()
    assert [r.key for r in records_of(batch)] == [b"a", b"b", None]


def test_the_attribute_bits_have_their_names():
    plain = Batch(build(RECORDS))
    assert (plain.codec, plain.is_transactional, plain.is_control) == (0, False, False)
    assert (plain.timestamp_type, plain.delete_horizon) == (0, None)

    marked = Batch(
        build(RECORDS, codec=4, timestamp_type=1, transactional=True, control=True, delete_horizon=77)
    )
    assert (marked.codec, marked.is_transactional, marked.is_control) == (4, True, True)
    assert (marked.timestamp_type, marked.delete_horizon) == (1, 77)


def test_sequences_wrap_to_zero():
    last = 2**31 - 1
    assert Batch(build(RECORDS, producer_id=1, base_sequence=last - 2)).last_sequence == last
    assert Batch(build(RECORDS, producer_id=1, base_sequence=last - 1)).last_sequence == 0
    assert Batch(build(RECORDS, producer_id=1, base_sequence=last)).last_sequence == 1


def test_without_a_sequence_there_is_no_last_one():
    assert Batch(build(RECORDS)).last_sequence == -1


def test_a_header_may_be_read_before_its_records_are_there():
    whole = build(RECORDS)

    batch = Batch(whole[:HEADER_SIZE])

    assert batch.size == len(whole)
    assert not batch.is_intact()


def test_half_a_header_is_corrupt():
    assert refusal(lambda: Batch(build(RECORDS)[:60])) is ErrorCode.CORRUPT_MESSAGE
    assert refusal(lambda: Batch(b"")) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [48, 0, -1, -(2**31)])
def test_a_length_shorter_than_the_header_is_corrupt(length):
    raw = build(RECORDS)
    struct.pack_into(">i", raw, 8, length)

    assert refusal(lambda: Batch(raw)) is ErrorCode.CORRUPT_MESSAGE
    assert refusal(lambda: list(iterate(raw))) is ErrorCode.CORRUPT_MESSAGE


def test_one_flipped_bit_breaks_the_checksum():
    raw = build(RECORDS)
    for byte in range(21, len(raw)):
        raw[byte] ^= 0x10
        assert not Batch(raw).is_intact()
        raw[byte] ^= 0x10
    assert Batch(raw).is_intact()


def test_a_stamp_changes_offset_and_epoch_and_nothing_else():
    before = build(RECORDS)
    buf = bytearray(b"xx" + before)

    stamp(buf, 2, 12345678901, 42)

    batch = Batch(buf, 2)
    assert (batch.base_offset, batch.leader_epoch) == (12345678901, 42)
    assert batch.size == len(before)
    assert batch.is_intact()
    assert buf[2 + 16 :] == before[16:]
    assert [r.offset for r in records_of(batch)] == [12345678901, 12345678902, 12345678903]


def test_append_time_is_every_records_time_and_inside_the_checksum():
    buf = bytearray(b"xx" + build(RECORDS, codec=1) + b"yy")

    stamp_append_time(memoryview(buf), 2, 9999)

    batch = Batch(buf, 2)
    assert (batch.timestamp_type, batch.max_timestamp, batch.codec) == (1, 9999, 1)
    assert batch.base_timestamp == 1000
    assert batch.is_intact()
    assert {r.timestamp for r in records_of(batch)} == {9999}
    assert buf[-2:] == b"yy"


def test_batches_are_walked_in_order():
    buf = b"".join(build(RECORDS, base_offset=offset) for offset in (0, 3, 6))

    assert [batch.base_offset for batch in iterate(buf)] == [0, 3, 6]
    assert [batch.position for batch in iterate(buf)] == [0, len(buf) // 3, 2 * len(buf) // 3]


@pytest.mark.parametrize("left", [0, 1, 11, 12, 16, 17, 60, 61, 70])
def test_a_part_of_a_batch_at_the_end_is_left_out(left):
    whole = build(RECORDS)

    assert len(list(iterate(whole + whole[:left]))) == 1


def test_a_walk_keeps_to_its_bounds():
    whole = build(RECORDS)
    size = len(whole)
    buf = b"junk" + whole * 3 + b"junk"

    assert [batch.position for batch in iterate(buf, 4, 4 + 2 * size)] == [4, 4 + size]
    assert [batch.position for batch in iterate(buf, 4, 4 + 2 * size - 1)] == [4]


@pytest.mark.parametrize(
    ("magic", "code"),
    [
        (0, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (1, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (3, ErrorCode.CORRUPT_MESSAGE),
        (255, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_another_magic_ends_the_walk_with_an_error(magic, code):
    first, second = build(RECORDS), build(RECORDS)
    second[16] = magic
    walk = iterate(first + second)

    assert next(walk).count == 3
    assert refusal(lambda: next(walk)) is code


def test_an_empty_batch_is_a_batch():
    raw = BatchBuilder(base_offset=5).build(last_offset=9)

    batch = Batch(raw)

    assert (batch.size, batch.count, batch.last_offset) == (61, 0, 9)
    assert list(records_of(batch)) == []
