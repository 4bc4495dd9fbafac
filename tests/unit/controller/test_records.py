"""Metadata records, against bytes that Kafka wrote and against bytes that nobody should."""

from typing import Any, get_args

import pytest

from andiron.controller.records import (
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    TopicRecord,
    decode_record,
    encode_record,
)
from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.wire.primitives import MalformedMessage, UnencodableMessage
from golden.samples import Sample, built, each, load

SAMPLES = load("metadata_records.json")
CLASSES: dict[str, Any] = {cls.__name__: cls for cls in get_args(MetadataRecord)}
TOPIC = TopicRecord(name="orders", topic_id=bytes(range(16)))


@each(SAMPLES)
def test_a_record_is_written_as_kafka_writes_it(sample: Sample):
    assert encode_record(built(CLASSES[sample.message], sample.fields), sample.version) == sample.bytes


@each(SAMPLES)
def test_what_kafka_wrote_is_read(sample: Sample):
    assert decode_record(sample.bytes) == built(CLASSES[sample.message], sample.fields)


def test_every_type_and_version_has_a_sample():
    known = {
        (name, version)
        for name, cls in CLASSES.items()
        for version in range(cls.__versions__[0], cls.__versions__[1] + 1)
    }
    assert {(sample.message, sample.version) for sample in SAMPLES} == known


def test_no_two_types_have_one_number():
    assert len({cls.__api_key__ for cls in CLASSES.values()}) == len(CLASSES)


def test_the_newest_version_is_written_unless_told():
    record = PartitionRecord(partition_id=0, replicas=[1], directories=[bytes(16)])

    assert encode_record(record)[:3] == b"\x01\x03\x02"
    assert encode_record(record, version=0)[:3] == b"\x01\x03\x00"


def test_a_record_can_be_read_from_a_view():
    assert decode_record(memoryview(encode_record(TOPIC))) == TOPIC


def test_a_change_tells_an_emptied_list_from_one_left_alone():
    emptied = PartitionChangeRecord(partition_id=0, isr=[])
    alone = PartitionChangeRecord(partition_id=0)

    assert decode_record(encode_record(emptied)).isr == []
    assert decode_record(encode_record(alone)).isr is None


def test_a_change_of_nothing_has_an_empty_tagged_section():
    assert (
        encode_record(BrokerRegistrationChangeRecord(), version=3) == b"\x01\x11\x03" + bytes(4 + 8) + b"\x00"
    )


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (b"\x00" + encode_record(TOPIC)[1:], "frame version 0"),
        (b"\x01\x63\x00", "type 99"),
        (b"\x01\x06\x00", "type 6"),
        (b"\x01\x02\x07", "TopicRecord version 7"),
    ],
)
def test_what_is_not_known_is_refused_by_name(value: bytes, named: str):
    with pytest.raises(ProtocolError, match=named) as refused:
        decode_record(value)

    assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("length", range(len(encode_record(TOPIC))))
def test_a_record_cut_short_is_an_error_of_ours(length: int):
    with pytest.raises(AndironError):
        decode_record(encode_record(TOPIC)[:length])


def test_bytes_behind_a_record_are_refused():
    with pytest.raises(MalformedMessage, match="2 bytes follow a NoOpRecord"):
        decode_record(encode_record(NoOpRecord()) + b"\x00\x00")


def test_a_name_cannot_be_null():
    with pytest.raises(UnencodableMessage, match=r"TopicRecord\.name"):
        encode_record(TopicRecord(name=None))
