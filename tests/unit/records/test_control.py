"""Markers and the other records that the cluster writes to itself."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.control import (
    ControlType,
    EndMarker,
    control_batch,
    control_records,
    control_type,
    end_marker,
    end_marker_of,
)
from andiron.records.record import Record


def marker(committed):
    return Batch(
        end_marker(
            committed,
            producer_id=7,
            producer_epoch=3,
            coordinator_epoch=12,
            timestamp=1000,
            base_offset=55,
            leader_epoch=2,
        )
    )


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_says_how_the_transaction_ended(committed):
    assert end_marker_of(marker(committed)) == EndMarker(committed, coordinator_epoch=12)


def test_a_marker_is_a_transactional_control_batch_of_its_producer():
    batch = marker(committed=True)

    assert (batch.is_control, batch.is_transactional, batch.count) == (True, True, 1)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 3, -1)
    assert (batch.base_offset, batch.leader_epoch, batch.max_timestamp) == (55, 2, 1000)


def test_the_quorums_records_share_a_batch():
    entries = [
        (ControlType.SNAPSHOT_HEADER, b"h"),
        (ControlType.KRAFT_VERSION, b"v"),
        (ControlType.KRAFT_VOTERS, b"w"),
    ]

    batch = Batch(control_batch(entries, timestamp=1000, leader_epoch=4))

    assert control_records(batch) == entries
    assert (batch.is_control, batch.is_transactional, batch.producer_id) == (True, False, -1)
    assert end_marker_of(batch) is None


def test_the_types_have_kafkas_numbers():
    assert [control_type(b"\0\0\0" + bytes((n,))).name for n in range(7)] == [
        "ABORT",
        "COMMIT",
        "LEADER_CHANGE",
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
    ]


@pytest.mark.parametrize("key", [b"\0\0\0\x63", b"\0\0\xff\xff", b"\0\0\xff\xfe"])
def test_a_type_of_a_later_kafka_is_unknown_but_no_error(key):
    assert control_type(key) is ControlType.UNKNOWN


def test_a_later_version_of_the_key_may_be_longer():
    assert control_type(b"\0\x01\0\x01more") is ControlType.COMMIT


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0", b"\xff\xff\0\x01"])
def test_a_key_that_is_none_is_invalid(key):
    with pytest.raises(ProtocolError) as refused:
        control_type(key)

    assert refused.value.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("value", [None, b"", b"\0\0\0\0\0"])
def test_a_marker_without_its_epoch_is_invalid(value):
    batch = Batch(build([Record(0, 1, b"\0\0\0\x01", value)], control=True))

    with pytest.raises(ProtocolError) as refused:
        end_marker_of(batch)

    assert refused.value.code is ErrorCode.INVALID_RECORD
