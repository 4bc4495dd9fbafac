"""Records of `__consumer_offsets`, against bytes that Kafka wrote and against bytes that nobody should."""

from __future__ import annotations

import pytest

from andiron.groups.offsets.records import OffsetCommitKey, OffsetCommitValue
from andiron.groups.records import (
    KINDS,
    PARTS,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    GroupRecord,
    UnservedGroupKey,
    decode_record,
    encode_record,
)
from andiron.model.errors import ErrorCode, ProtocolError
from golden.samples import Sample, built, each, load

SAMPLES = [
    sample for sample in load("coordinator_records.json") if not sample.message.startswith("TransactionLog")
]
KEYS = {kind.key.__name__: kind.key for kind in KINDS.values()}
VALUES = {kind.value.__name__: (number, kind) for number, kind in KINDS.items()}
SAMPLE_KEYS = [sample for sample in SAMPLES if sample.message in KEYS]
SAMPLE_VALUES = [sample for sample in SAMPLES if sample.message in VALUES]
COMMIT = GroupRecord(
    OffsetCommitKey("g", "t", 3), OffsetCommitValue(42, 1, "here", 1000, -1, bytes(range(16)))
)


def key_of_type(number: int) -> bytes:
    """The bytes of any key of a type."""
    first = next(sample for sample in SAMPLE_KEYS if sample.message == KINDS[number].key.__name__)
    return number.to_bytes(2, "big") + first.bytes[2:]


@each(SAMPLE_KEYS)
def test_a_key_is_written_as_kafka_writes_it_and_read(sample: Sample):
    record = GroupRecord(built(KEYS[sample.message], sample.fields), None)

    assert encode_record(record) == (sample.bytes, None)
    assert decode_record(sample.bytes, None) == record


@each(SAMPLE_VALUES)
def test_a_value_that_kafka_wrote_is_read(sample: Sample):
    number, kind = VALUES[sample.message]

    read = decode_record(key_of_type(number), sample.bytes)

    assert read is not None
    assert read.value == built(kind.value, sample.fields)


@each([sample for sample in SAMPLE_VALUES if sample.version == VALUES[sample.message][1].version])
def test_a_value_is_written_as_kafka_writes_it(sample: Sample):
    number, kind = VALUES[sample.message]
    read = decode_record(key_of_type(number), None)
    assert read is not None

    _, value = encode_record(GroupRecord(read.key, built(kind.value, sample.fields)))

    assert value == sample.bytes


def test_every_kind_and_version_has_a_sample():
    known = {(name, version) for name, (_, kind) in VALUES.items() for version in range(kind.newest + 1)}

    assert {(sample.message, sample.version) for sample in SAMPLE_VALUES} == known
    assert {sample.message for sample in SAMPLE_KEYS} == KEYS.keys()


def test_the_versions_that_kafka_4_3_writes_are_written():
    assert {number: kind.version for number, kind in KINDS.items() if kind.version} == {1: 4, 2: 3}


@each([sample for sample in SAMPLES if sample.message.startswith("Legacy")])
def test_offsets_of_the_oldest_kind_are_read_as_such(sample: Sample):
    is_key = sample.message.endswith("Key")
    read = decode_record(
        sample.bytes if is_key else b"\x00\x00" + key_of_type(1)[2:], None if is_key else sample.bytes
    )

    assert read is not None
    found = read.key if is_key else read.value
    assert found == built(OffsetCommitKey if is_key else OffsetCommitValue, sample.fields)


def test_the_producer_of_a_record_in_a_transaction_stays_with_it():
    assert decode_record(*encode_record(COMMIT), producer_id=7) == COMMIT._replace(producer_id=7)


def test_an_offset_that_expires_by_itself_is_written_in_the_version_that_can_say_so():
    record = COMMIT._replace(value=OffsetCommitValue(42, -1, "here", 1000, 2000))

    key, value = encode_record(record)

    assert value is not None
    assert value[:2] == b"\x00\x01"
    assert decode_record(key, value) == record


@pytest.mark.parametrize("number", [9, 18, 24, 99, -1])
def test_types_that_are_not_known_are_passed_over(number: int):
    assert decode_record(number.to_bytes(2, "big", signed=True) + b"anything", b"at all") is None


@pytest.mark.parametrize("number", PARTS)
def test_of_a_group_that_is_not_served_it_is_known_whose_a_record_is(number: int):
    key = number.to_bytes(2, "big") + b"\x00\x05group"

    assert decode_record(key, b"whatever") == GroupRecord(UnservedGroupKey(number, "group"), b"whatever")
    assert decode_record(key + b"\x00\x01m", None) == GroupRecord(
        UnservedGroupKey(number, "group", "m"), None
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (b"", b""),
        (b"\x00", None),
        (b"\x00\x01", None),
        (b"\x00\x01\x00\x05ab", None),
        (b"\x00\x0b", None),
        (b"\x00\x0b\x00\x05ab", None),
        (b"\x00\x0b\xff\xff", None),
        (b"\x00\x0b\x00\x00\x00\x00\x00\x00", None),
        (b"\x00\x02\x00\x01\xff", None),
        (encode_record(COMMIT)[0], b""),
        (encode_record(COMMIT)[0], b"\x00\x04"),
        (encode_record(COMMIT)[0], b"\x00\x09" + bytes(40)),
        (encode_record(COMMIT)[0], b"\xff\xff" + bytes(40)),
        (encode_record(GroupRecord(GroupMetadataKey("g"), None))[0], b"\x00\x05" + bytes(40)),
        (encode_record(GroupRecord(GroupMetadataKey("g"), None))[0], b"\x00\x03\x00\x02"),
    ],
)
def test_what_is_no_record_is_an_error_of_ours(key: bytes | None, value: bytes | None):
    with pytest.raises(ProtocolError) as refused:
        decode_record(key, value)

    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize(
    "record",
    [
        COMMIT,
        GroupRecord(GroupMetadataKey("g"), GroupMetadataValue("consumer", 3, "range", "m", 5)),
        GroupRecord(ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(3, 17)),
    ],
)
def test_a_record_cut_short_is_an_error_of_ours(record: GroupRecord):
    key, value = encode_record(record)
    assert value is not None
    for length in range(len(value)):
        with pytest.raises(ProtocolError):
            decode_record(key, value[:length])
    for length in range(len(key)):
        with pytest.raises(ProtocolError):
            decode_record(key[:length], value)
