"""Batches as Kafka's own Java classes write them: read here, and where nothing is packed, written alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from andiron.records.batch import Batch
from andiron.records.builder import BatchBuilder, build
from andiron.records.control import (
    ControlType,
    EndMarker,
    control_batch,
    control_records,
    end_marker,
    end_marker_of,
)
from andiron.records.record import Record, keys_of, records_of
from andiron.records.validate import check_produced

GOLDEN = {
    (entry["name"], entry["codec"]): bytes.fromhex(entry["hex"])
    for entry in json.loads((Path(__file__).parent / "batches.json").read_text())["batches"]
}
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
NOW = 1_700_000_000_000

SAMPLE = [
    Record(0, NOW, b"k1", b"first value", (("h1", b"v1"), ("none", None), ("é", b""))),
    Record(1, NOW + 5, None, b"no key"),
    Record(2, NOW - 10, b"gone", None),
    Record(3, NOW + 100, b"", b""),
    Record(4, NOW + 1000, b"k5", b"abc" * 100, (("h1", b"x"), ("h1", b"y"))),
]


def golden(name, codec="none"):
    return Batch(GOLDEN[name, codec])


def test_nothing_golden_is_left_unread():
    for raw in GOLDEN.values():
        batch = Batch(raw)
        assert batch.size == len(raw)
        assert batch.is_intact()
        assert len(list(keys_of(batch))) == len(list(records_of(batch))) == batch.count


@pytest.mark.parametrize("codec", CODECS)
def test_an_idempotent_producers_batch(codec):
    batch = check_produced(GOLDEN["idempotent", codec], 1_000_000)

    assert list(records_of(batch)) == SAMPLE
    assert batch.codec == CODECS.index(codec)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence) == (
        4000,
        3,
        17,
        21,
    )
    assert (batch.base_timestamp, batch.max_timestamp, batch.timestamp_type) == (NOW, NOW + 1000, 0)


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_under_append_time(codec):
    batch = golden("log append time", codec)

    assert (batch.timestamp_type, batch.max_timestamp) == (1, 1712345678901)
    assert (batch.base_offset, batch.last_offset, batch.leader_epoch) == (1000, 1004, 7)
    assert list(records_of(batch)) == [
        record._replace(offset=1000 + record.offset, timestamp=1712345678901) for record in SAMPLE
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_a_transactional_batch_of_several_blocks(codec):
    batch = golden("long transactional", codec)
    base = 5_000_000_000

    assert batch.is_transactional
    assert batch.last_sequence == (2147483640 + batch.last_offset_delta) % 2**31
    assert batch.count == (20 if codec == "none" else 900)
    assert list(records_of(batch)) == [
        Record(base + n, NOW + n, b"key-%d" % n, b"value number %d " % n + b"~" * 200)
        for n in range(batch.count)
    ]


def test_unpacked_batches_are_written_byte_for_byte():
    producer = {"producer_id": 4000, "producer_epoch": 3, "base_sequence": 17}
    assert build(SAMPLE, **producer) == GOLDEN["idempotent", "none"]
    assert (
        build(SAMPLE, base_offset=1000, leader_epoch=7, timestamp_type=1, max_timestamp=1712345678901)
        == GOLDEN["log append time", "none"]
    )


def test_snappy_is_packed_byte_for_byte():
    producer = {"producer_id": 4000, "producer_epoch": 3, "base_sequence": 17}
    assert build(SAMPLE, codec=2, **producer) == GOLDEN["idempotent", "snappy"]


def test_a_compacted_batch_with_a_delete_horizon():
    batch = golden("compacted with a delete horizon")

    assert batch.delete_horizon == 1_800_000_000_000
    assert (batch.base_offset, batch.last_offset, batch.count) == (100, 120, 2)
    assert list(records_of(batch)) == [
        Record(102, NOW, b"a", None),
        Record(107, NOW + 1, b"b", b"kept"),
    ]


def test_a_compacted_batch_is_written_byte_for_byte():
    builder = BatchBuilder(
        base_offset=100,
        leader_epoch=4,
        producer_id=55,
        producer_epoch=1,
        base_sequence=10,
        delete_horizon=1_800_000_000_000,
    )
    builder.append(NOW, b"a", None, offset=102)
    builder.append(NOW + 1, b"b", b"kept", offset=107)

    assert builder.build(last_offset=120) == GOLDEN["compacted with a delete horizon", "none"]


@pytest.mark.parametrize(
    ("name", "committed", "offset"), [("commit marker", True, 33), ("abort marker", False, 34)]
)
def test_markers_are_read_and_written_byte_for_byte(name, committed, offset):
    assert end_marker_of(golden(name)) == EndMarker(committed, coordinator_epoch=12)

    ours = end_marker(
        committed,
        producer_id=4000,
        producer_epoch=3,
        coordinator_epoch=12,
        timestamp=NOW,
        base_offset=offset,
        leader_epoch=6,
    )
    assert ours == GOLDEN[name, "none"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("leader change", ControlType.LEADER_CHANGE),
        ("snapshot header", ControlType.SNAPSHOT_HEADER),
        ("snapshot footer", ControlType.SNAPSHOT_FOOTER),
        ("kraft version", ControlType.KRAFT_VERSION),
        ("kraft voters", ControlType.KRAFT_VOTERS),
    ],
)
def test_the_quorums_records_are_read_and_written_byte_for_byte(name, kind):
    batch = golden(name)
    [(found, value)] = control_records(batch)

    assert found is kind
    ours = control_batch([(kind, value)], timestamp=NOW, base_offset=batch.base_offset, leader_epoch=2)
    assert ours == GOLDEN[name, "none"]
