"""The quorum's control records, against bytes that Kafka wrote and against bytes that nobody should."""

from typing import Any, get_args

import pytest

from andiron.model.errors import AndironError, ErrorCode, ProtocolError
from andiron.quorum.records import (
    ControlRecord,
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeVoter,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
    decode_control,
    encode_control,
)
from andiron.records.batch import Batch
from andiron.records.control import ControlType, control_batch, control_records
from golden.samples import Sample, built, each, load

SAMPLES = load("control_records.json")
CLASSES: dict[str, Any] = {cls.__name__: cls for cls in get_args(ControlRecord)}


@each(SAMPLES)
def test_a_record_is_written_as_kafka_writes_it(sample: Sample):
    _, value = encode_control(built(CLASSES[sample.message], sample.fields))

    assert value == sample.bytes


@each(SAMPLES)
def test_what_kafka_wrote_is_read(sample: Sample):
    record = built(CLASSES[sample.message], sample.fields)
    kind, _ = encode_control(record)

    assert decode_control(kind, sample.bytes) == record


def test_every_type_and_version_has_a_sample():
    known = {(name, v) for name, cls in CLASSES.items() for v in range(cls.__versions__[1] + 1)}

    assert {(sample.message, sample.version) for sample in SAMPLES} == known


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (LeaderChangeMessage(), ControlType.LEADER_CHANGE),
        (SnapshotHeaderRecord(), ControlType.SNAPSHOT_HEADER),
        (SnapshotFooterRecord(), ControlType.SNAPSHOT_FOOTER),
        (KRaftVersionRecord(), ControlType.KRAFT_VERSION),
        (VotersRecord(), ControlType.KRAFT_VOTERS),
    ],
)
def test_each_record_goes_under_its_own_type(record: ControlRecord, kind: ControlType):
    assert encode_control(record)[0] is kind


def test_a_record_comes_back_out_of_a_control_batch():
    elected = LeaderChangeMessage(leader_id=3, voters=[LeaderChangeVoter(3), LeaderChangeVoter(4)])

    batch = control_batch([encode_control(elected)], timestamp=1)

    [(kind, value)] = control_records(Batch(batch))
    assert decode_control(kind, value) == elected


@pytest.mark.parametrize("kind", [ControlType.COMMIT, ControlType.ABORT, ControlType.UNKNOWN])
def test_a_type_that_is_not_the_quorums_is_refused_by_name(kind: ControlType):
    with pytest.raises(ProtocolError, match=kind.name) as refused:
        decode_control(kind, bytes(6))

    assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION


def test_a_version_that_is_not_known_is_refused_by_name():
    with pytest.raises(ProtocolError, match="LeaderChangeMessage version 2"):
        decode_control(ControlType.LEADER_CHANGE, b"\x00\x02" + bytes(7))


@pytest.mark.parametrize("length", range(7))
def test_a_record_cut_short_is_an_error_of_ours(length: int):
    _, value = encode_control(LeaderChangeMessage())

    with pytest.raises(AndironError):
        decode_control(ControlType.LEADER_CHANGE, value[:length])
