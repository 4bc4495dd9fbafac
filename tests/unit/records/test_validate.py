"""What Produce refuses, and with which number; validate.py tells where Kafka would say otherwise."""

from __future__ import annotations

import pickle

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records import native, validate
from andiron.records.batch import HEADER, Batch, seal
from andiron.records.builder import build
from andiron.records.compression import compress
from andiron.records.record import Record
from andiron.records.validate import (
    Allowance,
    ProduceLimits,
    check_batch,
    check_produced,
    check_records,
    unpacked_bytes_max,
)
from andiron.records.walk import walk

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


def times(batch, now=NOW, append_time=False, before=FOREVER, after=HOUR, keyed=False, allowance=None):
    limits = ProduceLimits(
        1 << 20, append_time=append_time, before_max_ms=before, after_max_ms=after, keyed=keyed
    )
    return check_records(batch, limits, now, allowance)


def bad(batch, **more):
    with pytest.raises(ProtocolError) as refused:
        times(batch, **more)
    return refused.value


def holding(body, count=1, codec=0, **more):
    """A batch of these bytes, said to be so many records, with its checksum right."""
    raw = build([Record(0, NOW, None, None)] * max(1, count), codec=codec, **more)[:61] + compress(
        codec, body
    )
    raw[8:12] = (len(raw) - 12).to_bytes(4, "big")
    raw[57:61] = count.to_bytes(4, "big", signed=True)
    raw[23:27] = (count - 1).to_bytes(4, "big", signed=True)
    seal(raw, 0, len(raw))
    return check_produced(raw, 1 << 30)


@pytest.fixture(params=["compiled", "without a compiler"], autouse=True)
def _both(request, monkeypatch):
    """Every test, with the extension and without it."""
    if request.param == "compiled":
        if native.walk is None:
            pytest.skip("the extension was not built here")
    else:
        monkeypatch.setattr(validate, "_check", validate._look_closer)
        monkeypatch.setattr(validate, "_walk", walk)
        monkeypatch.setattr(validate, "_WALKED_MAX", validate.WALKED_RECORDS_MAX)


def test_timestamps_within_the_limits_are_let_in():
    batch = Batch(good())

    times(batch)
    times(batch, now=NOW + 10 - HOUR)
    times(batch, now=NOW + 500, before=500)


@pytest.mark.parametrize("codec", range(5))
def test_every_record_is_held_against_the_limits_of_time_and_the_bad_ones_are_told(codec):
    late = bad(Batch(good(codec=codec)), now=NOW + 9 - HOUR)
    early = bad(Batch(good(codec=codec)), now=NOW + 508, before=500)

    assert (late.code, early.code) == (ErrorCode.INVALID_TIMESTAMP, ErrorCode.INVALID_TIMESTAMP)
    assert [index for index, _ in late.records] == [1]
    assert [index for index, _ in early.records] == [0, 2]


def test_under_append_time_the_producers_clock_does_not_matter():
    batch = times(Batch(altered(max_timestamp=5)), now=0, append_time=True)

    assert batch.max_timestamp == 5  # the log is about to write its own


def test_no_timestamp_is_neither_early_nor_late():
    times(Batch(build([Record(0, -1, b"k", b"v")])), before=0, after=0)


@pytest.mark.parametrize("codec", range(5))
def test_records_without_a_timestamp_have_none_whatever_the_header_says(codec):
    raw = build([Record(0, -1, b"k", b"v")] * 3, codec=codec)
    HEADER.pack_into(raw, 0, *HEADER.unpack_from(raw)[:8], 0, *HEADER.unpack_from(raw)[9:])
    seal(raw, 0, len(raw))

    batch = times(check_produced(raw, 1_000_000))

    assert (batch.base_timestamp, batch.max_timestamp) == (-1, -1)
    assert batch.is_intact()
    assert raw == build([Record(0, -1, b"k", b"v")] * 3, codec=codec)


@pytest.mark.parametrize("claimed", [-1, 0, NOW, NOW + 9, NOW + 11, FOREVER])
def test_the_largest_timestamp_is_that_of_the_records(claimed):
    batch = times(check_produced(altered(max_timestamp=claimed), 1_000_000))

    assert batch.max_timestamp == NOW + 10
    assert batch.is_intact()


def test_a_true_header_is_left_alone():
    raw = good()
    batch = check_produced(memoryview(raw).toreadonly(), 1_000_000)

    assert times(batch) is batch


@pytest.mark.parametrize("append_time", [True, False])
def test_the_bit_of_append_time_is_not_a_clients_to_set(append_time):
    batch = Batch(altered(attributes=0x08))

    assert bad(batch, append_time=append_time).code is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", range(5))
def test_a_compacted_topic_wants_a_key_on_every_record(codec):
    times(Batch(good(codec=codec)), keyed=True)
    keyless = Record(0, NOW, None, b"v")

    refused = bad(Batch(build([keyless, *RECORDS, keyless], codec=codec)), keyed=True)

    assert refused.code is ErrorCode.INVALID_RECORD
    assert refused.records == tuple((n, "has no key, and the topic is compacted") for n in (0, 4))
    assert "record 0 has no key" in refused.detail
    assert pickle.loads(pickle.dumps(refused)).records == refused.records


def test_a_record_without_a_key_and_one_out_of_time_are_both_told_and_the_time_gives_the_code():
    refused = bad(Batch(build([Record(0, NOW, None, b""), Record(0, NOW + HOUR + 1, b"k", b"")])), keyed=True)

    assert refused.code is ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in refused.records] == [0, 1]


def test_so_many_bad_records_are_told_and_no_more(monkeypatch):
    monkeypatch.setattr(validate, "TOLD_MAX", 20)

    refused = bad(Batch(build([Record(0, NOW, None, b"v")] * 30)), keyed=True)

    assert len(refused.records) == 20
    assert refused.detail.startswith("30 records")


def test_an_empty_key_is_a_key():
    times(Batch(build([Record(0, NOW, b"", b"v")])), keyed=True)


WHOLE = bytes(build([Record(0, NOW, b"k", b"v", (("h", b"x"), ("i", None)))])[61:])


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"random bytes under a checksum that is right", 1),
        (WHOLE, 2),
        (WHOLE, 2**31 - 1),
        (WHOLE + b"\0", 1),
        (WHOLE * 2, 1),
        (WHOLE * 2, 2),  # both of them say that they are the first
        (WHOLE[:-1], 1),
        (b"\x0e\0\0\0\x01\x01\0\0", 1),  # longer than what it holds
        (b"\x0c\0\0\0\x01\x01\x01", 1),  # minus one header
        (b"\x0c\0\0\0\x01\x01\x02", 1),  # a header that is not there
        (b"\x10\0\0\0\x01\x01\x02\x01\x01", 1),  # one without a name
        (b"\x0c\0\0\0\x03\x01\0", 1),  # a key of -2 bytes
        (b"\x16\0\0\x80\x80\x80\x80\x80\0\x01\x01\0", 1),  # an offset in six bytes
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_record_is_not_let_in(codec, body, count):
    refused = bad(
        holding(body, 1 if count > 1000 else count, codec) if count <= 1000 else lying(codec, count)
    )

    assert refused.code is ErrorCode.INVALID_RECORD


def lying(codec, count):
    raw = bytearray(holding(WHOLE, 1, codec).buf)
    raw[57:61], raw[23:27] = count.to_bytes(4, "big"), (count - 1).to_bytes(4, "big")
    seal(raw, 0, len(raw))
    return check_produced(raw, 1 << 20)


def test_nothing_is_unpacked_beyond_the_cap_and_its_producer_may_split_it():
    batch = Batch(build([Record(0, NOW, b"k", bytes(33 << 20))], codec=4))

    assert bad(batch).code is ErrorCode.MESSAGE_TOO_LARGE


def test_the_batches_of_a_request_share_what_may_be_unpacked_and_the_rest_is_sent_again():
    allowance = Allowance()
    allowance.unpacked_bytes = 150_000
    batch = Batch(build([Record(0, NOW, b"k", bytes(100_000))], codec=4))

    times(batch, allowance=allowance)

    assert bad(batch, allowance=allowance).code is ErrorCode.REQUEST_TIMED_OUT
    assert bad(Batch(good(codec=4)), allowance=allowance).code is ErrorCode.REQUEST_TIMED_OUT
    times(Batch(good()), allowance=allowance)  # which need not be unpacked


def test_the_batches_of_a_request_share_what_may_be_told():
    allowance = Allowance()
    allowance.told = 3
    keyless = Batch(build([Record(0, NOW, None, b"v")] * 2))

    told = [len(bad(keyless, keyed=True, allowance=allowance).records) for _ in range(4)]

    assert told == [2, 1, 1, 1]


def test_the_cap_grows_with_what_a_topic_takes_and_ends():
    assert unpacked_bytes_max(1000) == unpacked_bytes_max(1 << 20) == 32 << 20
    assert unpacked_bytes_max(2 << 20) == 64 << 20
    assert unpacked_bytes_max(1 << 30) == 256 << 20


def test_a_producers_epoch_is_none_or_a_number_from_0_on():
    assert refusal(altered(producer_epoch=-2)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert check_produced(altered(producer_epoch=-1), 1_000_000)


# ── all of it ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@pytest.mark.parametrize("codec", range(5))
def test_a_batch_that_is_as_it_should_be_is_taken_whole(codec, kind):
    raw = good(codec=codec, transactional=True)
    batch = check_batch(kind(raw), ProduceLimits(1_000_000), NOW)

    assert [getattr(batch, field) for field in FIELDS if field != "length"] == [
        value for field, value in zip(FIELDS, HEADER.unpack_from(raw), strict=True) if field != "length"
    ]
    assert (batch.size, batch.position, batch.is_transactional) == (len(raw), 0, True)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (good()[:60], ErrorCode.CORRUPT_MESSAGE),
        (altered(crc=1), ErrorCode.CORRUPT_MESSAGE),
        (altered(count=4), ErrorCode.INVALID_RECORD),
        (altered(base_timestamp=NOW + 2 * HOUR), ErrorCode.INVALID_TIMESTAMP),
        (altered(attributes=0x08), ErrorCode.INVALID_TIMESTAMP),
    ],
)
def test_one_that_is_not_is_refused_by_those_who_know_why(records, code):
    with pytest.raises(ProtocolError) as refused:
        check_batch(records, ProduceLimits(1_000_000, after_max_ms=HOUR), NOW)

    assert refused.value.code is code


def test_a_topic_sets_limits_to_size_codec_time_and_keys():
    keyless = build([Record(0, NOW, None, b"v")])
    for raw, limits, zstd in (
        (good(), ProduceLimits(70), True),
        (good(codec=4), ProduceLimits(1_000), False),
        (good(), ProduceLimits(1_000, before_max_ms=0), True),
        (keyless, ProduceLimits(1_000, keyed=True), True),
    ):
        with pytest.raises(ProtocolError):
            check_batch(raw, limits, NOW + 10, zstd)
        assert check_batch(raw, ProduceLimits(1_000), NOW + 10)


def test_the_limits_of_time_go_with_the_clock_and_under_append_time_there_are_none():
    assert ProduceLimits(1, append_time=True, before_max_ms=0, after_max_ms=0).times(NOW) == (
        -FOREVER - 1,
        FOREVER,
    )
    assert ProduceLimits(1, before_max_ms=5, after_max_ms=FOREVER).times(NOW) == (NOW - 5, FOREVER)


def many(count, timestamp=NOW, key=b"k", **more):
    return build([Record(0, timestamp, key, b"")] * count, **more)


@pytest.fixture
def _uncompiled(monkeypatch):
    monkeypatch.setattr(validate, "_walk", walk)
    monkeypatch.setattr(validate, "_WALKED_MAX", 10)
    monkeypatch.setattr(validate, "WALKED_RECORDS_MAX", 10)
    monkeypatch.setattr(validate, "KEYED_RECORDS_MAX", 30)


def test_without_a_compiler_the_first_records_are_looked_at(_uncompiled):
    nonsense = many(20)
    nonsense[69] ^= 0xFF
    seal(nonsense, 0, len(nonsense))

    assert bad(Batch(nonsense)).code is ErrorCode.INVALID_RECORD
    assert bad(lying(0, 2**31 - 1)).code is ErrorCode.INVALID_RECORD
    assert times(Batch(many(20))).max_timestamp == NOW


def test_without_a_compiler_what_begins_without_timestamps_has_none(_uncompiled):
    raw = many(20, timestamp=-1)
    raw[35:43] = bytes(8)
    seal(raw, 0, len(raw))

    assert times(Batch(raw)).max_timestamp == -1


def test_without_a_compiler_a_claim_outside_the_limits_of_time_is_refused(_uncompiled):
    raw = many(20)
    raw[35:43] = (NOW + HOUR + 1).to_bytes(8, "big")
    seal(raw, 0, len(raw))

    assert bad(Batch(raw)).code is ErrorCode.INVALID_TIMESTAMP


def test_without_a_compiler_a_compacted_topic_looks_at_every_key_and_takes_smaller_batches(_uncompiled):
    some = [Record(0, NOW, b"k", b"")] * 20
    times(Batch(build(some)), keyed=True)

    assert bad(Batch(build([*some, Record(0, NOW, None, b"")])), keyed=True).records[0][0] == 20
    assert bad(Batch(many(31)), keyed=True).code is ErrorCode.MESSAGE_TOO_LARGE
