"""Records out of a batch: whole, by key, and out of nonsense."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, seal
from andiron.records.builder import BatchBuilder, build
from andiron.records.record import Record, contents, keys_of, records_of
from andiron.records.varint import encode_varint

RECORDS = [
    Record(10, 5000, b"k1", b"v1", (("trace", b"abc"), ("empty", b""), ("null", None), ("ключ", b"\xff"))),
    Record(11, 4000, None, b"no key"),
    Record(12, 9000, b"gone", None),
    Record(13, 5000, b"", b""),
    Record(14, 5000, b"k" * 200, b"v" * 20_000, tuple((f"h{n}", b"x") for n in range(100))),
]


def holding(body, count=1, last=None):
    """A batch whose records are the bytes given, with the checksum right."""
    raw = build([Record(0, 0, None, None)] * count)
    raw = raw[:61] + body
    raw[8:12] = (len(raw) - 12).to_bytes(4, "big")
    if last is not None:
        raw[23:27] = last.to_bytes(4, "big")
    seal(raw, 0, len(raw))
    return Batch(raw)


def record_bytes(*parts):
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def refusal(walk):
    with pytest.raises(ProtocolError) as refused:
        list(walk)
    return refused.value.code


@pytest.mark.parametrize("codec", range(5))
def test_records_come_back_as_they_went_in(codec):
    assert list(records_of(Batch(build(RECORDS, base_offset=10, codec=codec)))) == RECORDS


@pytest.mark.parametrize("codec", range(5))
def test_keys_come_with_the_place_of_their_record(codec):
    batch = Batch(build(RECORDS, base_offset=10, codec=codec))
    data = contents(batch)

    found = list(keys_of(batch, data))

    assert [at[:3] for at in found] == [(r.offset, r.key, r.value is None) for r in RECORDS]
    assert b"".join(data[at.start : at.stop] for at in found) == data
    assert list(keys_of(batch)) == found


def test_gaps_that_compaction_left_are_kept():
    builder = BatchBuilder(base_offset=100)
    builder.append(1, b"a", b"1", offset=102)
    builder.append(2, b"b", b"2", offset=170)
    batch = Batch(builder.build(last_offset=180))

    assert [r.offset for r in records_of(batch)] == [102, 170]
    assert [at.offset for at in keys_of(batch)] == [102, 170]


def test_a_header_key_that_is_not_utf8_does_not_hide_its_record():
    body = record_bytes(b"\0\0\0\x01\x01", b"\x02", b"\x02\xff", b"\x02x")

    assert [r.headers for r in records_of(holding(body))] == [(("\ufffd", b"x"),)]


GOOD = record_bytes(b"\0\0\0\x02k\x02v\0")

NONSENSE = {
    "nothing": b"",
    "only a length": b"\x10",
    "a negative length": b"\x01" + GOOD,
    "longer than the batch": b"\x7e" + GOOD[1:],
    "a length that does not end": b"\xff" * 12,
    "a length of 32 bits": encode_varint(2**31 - 1) + GOOD[1:],
    "bytes left over": GOOD + b"\0",
    "a key beyond the end": record_bytes(b"\0\0\0", encode_varint(1000), b"k\x02v\0"),
    "a key of 60 bits": record_bytes(b"\0\0\0", encode_varint(2**60), b"k\x02v\0"),
    "an offset before the batch": record_bytes(b"\0\0\x01\x02k\x02v\0"),
    "an offset after the batch": record_bytes(b"\0\0\x02\x02k\x02v\0"),
}

# These a walk over keys may pass over: the record's own length says where the next one starts.
INSIDE = {
    "a value beyond the end": record_bytes(b"\0\0\0\x02k", encode_varint(1000), b"v\0"),
    "a negative number of headers": record_bytes(b"\0\0\0\x02k\x02v\x01"),
    "more headers than bytes": record_bytes(b"\0\0\0\x02k\x02v", encode_varint(2**31 - 1)),
    "a header without a key": record_bytes(b"\0\0\0\x02k\x02v\x02\x01\x01"),
    "a header beyond the end": record_bytes(b"\0\0\0\x02k\x02v\x02\x7eh\x02v"),
    "bytes after the headers": record_bytes(b"\0\0\0\x02k\x02v\0\0"),
}


def test_the_smallest_good_record_is_good():
    assert list(records_of(holding(GOOD))) == [Record(0, 0, b"k", b"v")]


@pytest.mark.parametrize("body", [*NONSENSE.values(), *INSIDE.values()], ids=[*NONSENSE, *INSIDE])
def test_nonsense_is_an_invalid_record(body):
    assert refusal(records_of(holding(body))) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_an_invalid_key(body):
    assert refusal(keys_of(holding(body))) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("count", [-1, -(2**31), 2, 2**31 - 1])
def test_a_count_that_is_not_the_number_of_records_is_invalid(count):
    raw = build([Record(0, 0, b"k", b"v")])
    raw[57:61] = count.to_bytes(4, "big", signed=True)

    assert refusal(records_of(Batch(raw))) is ErrorCode.INVALID_RECORD
    assert refusal(keys_of(Batch(raw))) is ErrorCode.INVALID_RECORD


def test_records_before_the_damage_are_given():
    walk = records_of(holding(GOOD + b"\x01", count=2))

    assert next(walk).key == b"k"
    assert refusal(walk) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_bomb_is_not_opened(codec):
    batch = Batch(build([Record(0, 0, b"k", bytes(100_000))], codec=codec))

    assert refusal(records_of(batch, cap=50_000)) is ErrorCode.MESSAGE_TOO_LARGE
    assert len(list(records_of(batch, cap=200_000))) == 1


def test_a_codec_that_does_not_exist_is_unsupported():
    raw = build([Record(0, 0, b"k", b"v")])
    raw[22] |= 7

    assert refusal(records_of(Batch(raw))) is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
