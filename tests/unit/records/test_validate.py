"""What Produce refuses, and with which number; validate.py tells where Kafka would say otherwise."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import HEADER, Batch, seal
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.records.validate import check_keys, check_produced, check_timestamps

NOW = 1_700_000_000_000
HOUR = 3_600_000
FOREVER = 2**63 - 1
RECORDS = [Record(0, NOW, b"a", b"1"), Record(0, NOW + 10, b"b", b"2"), Record(0, NOW + 5, b"c", None)]
FIELDS = [
    "base_offset", "length", "leader_epoch", "magic", "crc", "attributes", "last_offset_delta",
    "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "count",
]  # fmt: skip


def good(**more):
    return build(RECORDS, producer_id=9, producer_epoch=0, base_sequence=0, **more)


def altered(**fields):
    """A good batch with some header fields changed and, unless it is one of them, the checksum right."""
    raw = good()
    values = dict(zip(FIELDS, HEADER.unpack_from(raw), strict=True)) | fields
    HEADER.pack_into(raw, 0, *values.values())
    if "crc" not in fields:
        seal(raw, 0, len(raw))
    return raw


def refusal(records, max_message_bytes=1_000_000, **more):
    with pytest.raises(ProtocolError) as refused:
        check_produced(records, max_message_bytes, **more)
    return refused.value.code


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_good_batch_is_let_in(codec, kind):
    batch = check_produced(kind(good(codec=codec)), 1_000_000)

    assert isinstance(batch, Batch)
    assert (batch.count, batch.codec) == (3, codec)


def test_a_batch_without_a_producer_or_with_a_transaction_is_let_in():
    assert check_produced(build(RECORDS), 1_000_000).producer_id == -1
    assert check_produced(good(transactional=True), 1_000_000).is_transactional


@pytest.mark.parametrize("nothing", [None, b"", memoryview(b"")])
def test_no_records_are_invalid(nothing):
    assert refusal(nothing) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("cut", [1, 12, 16, 17, 60, 61, -1])
def test_a_batch_cut_short_is_corrupt(cut):
    assert refusal(good()[:cut]) is ErrorCode.CORRUPT_MESSAGE


def test_two_batches_are_one_too_many():
    assert refusal(good() + good()) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("rest", [b"x", bytes(20), b"stray bytes that are no batch"])
def test_stray_bytes_after_the_batch_are_corrupt(rest):
    assert refusal(good() + rest) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_are_invalid(magic):
    assert refusal(altered(magic=magic)) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("magic", [3, 127, -1])
def test_a_magic_that_never_was_is_corrupt(magic):
    assert refusal(altered(magic=magic)) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [-1, 0, 14, 48, 49, 10_000, 2**31 - 1])
def test_a_length_that_is_not_the_buffers_is_corrupt(length):
    assert refusal(altered(length=length)) is ErrorCode.CORRUPT_MESSAGE


def test_a_wrong_checksum_is_corrupt():
    assert refusal(altered(crc=1)) is ErrorCode.CORRUPT_MESSAGE
    flipped = good()
    flipped[-1] ^= 1
    assert refusal(flipped) is ErrorCode.CORRUPT_MESSAGE


def test_a_batch_may_be_as_large_as_allowed_and_no_larger():
    raw = good()

    assert check_produced(raw, len(raw))
    assert refusal(raw, len(raw) - 1) is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_unsupported(codec):
    assert refusal(altered(attributes=codec)) is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_zstd_needs_a_request_that_knows_it():
    raw = good(codec=4)

    assert check_produced(raw, 1_000_000, zstd=True)
    assert refusal(raw, zstd=False) is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert check_produced(good(codec=3), 1_000_000, zstd=False)


@pytest.mark.parametrize(
    "fields",
    [
        {"base_offset": 5},
        {"count": 0},
        {"count": -1},
        {"count": 2},
        {"count": 4},
        {"last_offset_delta": -1},
        {"last_offset_delta": 0},
        {"last_offset_delta": 3},
        {"last_offset_delta": -1, "count": 0},
        {"attributes": 0x20},
        {"attributes": 0x30},
        {"base_sequence": -1},
        {"base_sequence": -5},
    ],
    ids=str,
)
def test_what_contradicts_itself_or_is_not_a_clients_to_write_is_invalid(fields):
    assert refusal(altered(**fields)) is ErrorCode.INVALID_RECORD


def test_kafkas_order_decides_which_fault_is_named():
    assert refusal(altered(crc=1, base_offset=5)) is ErrorCode.INVALID_RECORD
    assert refusal(altered(base_offset=5), 70) is ErrorCode.INVALID_RECORD
    assert refusal(altered(crc=1), 70) is ErrorCode.MESSAGE_TOO_LARGE
    assert refusal(altered(crc=1, count=0)) is ErrorCode.CORRUPT_MESSAGE


def times(batch, now=NOW, append_time=False, before=FOREVER, after=HOUR):
    check_timestamps(batch, now, append_time=append_time, before_max_ms=before, after_max_ms=after)


def late(batch, **more):
    with pytest.raises(ProtocolError) as refused:
        times(batch, **more)
    return refused.value.code


def test_timestamps_within_the_limits_are_let_in():
    batch = Batch(good())

    times(batch)
    times(batch, now=NOW + 10 - HOUR)
    times(batch, now=NOW + 500, before=500)


def test_a_timestamp_outside_the_limits_is_refused():
    batch = Batch(good())

    assert late(batch, now=NOW + 9 - HOUR) is ErrorCode.INVALID_TIMESTAMP
    assert late(batch, now=NOW + 501, before=500) is ErrorCode.INVALID_TIMESTAMP


def test_under_append_time_the_producers_clock_does_not_matter():
    times(Batch(good()), now=0, append_time=True)


def test_no_timestamp_is_neither_early_nor_late():
    times(Batch(build([Record(0, -1, b"k", b"v")])), before=0, after=0)


@pytest.mark.parametrize("append_time", [True, False])
def test_the_bit_of_append_time_is_not_a_clients_to_set(append_time):
    batch = Batch(altered(attributes=0x08))

    assert late(batch, append_time=append_time) is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", range(5))
def test_a_compacted_topic_wants_a_key_on_every_record(codec):
    check_keys(Batch(good(codec=codec)))

    with pytest.raises(ProtocolError) as refused:
        check_keys(Batch(build([*RECORDS, Record(0, NOW, None, b"v")], codec=codec)))

    assert refused.value.code is ErrorCode.INVALID_RECORD
    assert "record 3" in refused.value.detail


def test_an_empty_key_is_a_key():
    check_keys(Batch(build([Record(0, NOW, b"", b"v")])))


def test_looking_for_keys_opens_no_bomb():
    batch = Batch(build([Record(0, NOW, b"k", bytes(100_000))], codec=4))

    with pytest.raises(ProtocolError):
        check_keys(batch, cap=50_000)
