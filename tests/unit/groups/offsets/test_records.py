"""The value of a committed offset, packed by hand where it looks as usual and by its declaration where not."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import pytest

from andiron.groups.offsets.records import OffsetCommitValue, decode_value, encode_value
from andiron.wire.codec import encode_message
from andiron.wire.primitives import MalformedMessage
from golden.samples import Sample, built, each, load

SAMPLES = [sample for sample in load("coordinator_records.json") if sample.message == "OffsetCommitValue"]
TOPIC = bytes(range(16))
USUAL = OffsetCommitValue(42, 3, "so far", 1_700_000_000_000, -1, TOPIC)


@dataclass(frozen=True)
class Layout:
    value: OffsetCommitValue
    version: int


LAYOUTS = {
    "usual": Layout(USUAL, 4),
    "no metadata": Layout(OffsetCommitValue(42, 3, "", 5, -1, TOPIC), 4),
    "the longest length of one byte": Layout(OffsetCommitValue(42, 3, "x" * 126, 5, -1, TOPIC), 4),
    "the shortest length of two": Layout(OffsetCommitValue(42, 3, "x" * 127, 5, -1, TOPIC), 4),
    "without a topic id": Layout(OffsetCommitValue(42, 3, "so far", 5), 4),
    "with a time to expire at": Layout(OffsetCommitValue(42, -1, "so far", 5, 99), 1),
}


@each(SAMPLES)
def test_what_kafka_wrote_is_read(sample: Sample):
    assert decode_value(sample.bytes) == built(OffsetCommitValue, sample.fields)


@each([sample for sample in SAMPLES if sample.version == 4 or sample.fields.get("expire_timestamp")])
def test_a_value_is_written_as_kafka_writes_it(sample: Sample):
    assert encode_value(built(OffsetCommitValue, sample.fields)) == sample.bytes


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_by_hand_or_not_the_bytes_are_those_of_the_declaration(layout: Layout):
    data = encode_value(layout.value)

    assert data == layout.version.to_bytes(2, "big") + encode_message(layout.value, layout.version)
    assert decode_value(data) == layout.value


def test_an_id_among_other_tagged_fields_is_found():
    head, tail = encode_value(USUAL)[:-19], encode_value(USUAL)[-19:]
    assert tail[:3] == bytes((1, 0, 16))
    data = head + bytes((2, 0, 16)) + TOPIC + bytes((9, 2)) + b"??"

    assert decode_value(data) == USUAL


@pytest.mark.parametrize("length", range(len(encode_value(USUAL))))
def test_a_value_cut_short_is_no_value(length: int):
    with pytest.raises((MalformedMessage, struct.error)):
        decode_value(encode_value(USUAL)[:length])


def test_metadata_that_is_no_text_is_refused():
    with pytest.raises(MalformedMessage, match="no text"):
        decode_value(encode_value(USUAL).replace(b"so far", b"so \xff\xffr"))


def test_a_version_that_nobody_knows_is_refused():
    with pytest.raises(MalformedMessage, match="no version 5"):
        decode_value(b"\x00\x05" + encode_value(USUAL)[2:])
