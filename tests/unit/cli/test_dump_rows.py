"""Rows of every kind of file, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from andiron.cli.dump import data_file, data_files
from andiron.cli.dump_rows import Row, as_text, rows
from andiron.controller.records import TopicRecord, encode_record
from andiron.records.builder import build
from andiron.records.record import Record
from unit.cli.folders import TOPIC_ID, batch, write, write_data, write_partition


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_partition(tmp_path / "orders-0")


def of(path: Path, *, records: bool = False) -> list[Row]:
    return list(rows(data_file(str(path)), records=records))


def test_a_segment_is_a_row_a_batch(folder: Path) -> None:
    found = of(folder / f"{0:020d}.log")

    assert [(row["type"], row["base_offset"], row["last_offset"]) for row in found] == [
        ("batch", 0, 2),
        ("batch", 3, 5),
        ("batch", 6, 8),
    ]
    assert all(row["intact"] for row in found)
    assert as_text(found[1]).startswith(f"batch 3-5  3 records  at {len(batch(0))}  ")


def test_records_follow_their_batch_on_request(folder: Path) -> None:
    found = of(folder / f"{9:020d}.log", records=True)

    assert [row["type"] for row in found] == ["batch", "record", "record", "record"]
    assert (found[1]["offset"], found[1]["key"], found[1]["value"]) == (9, "k0", "v9")
    assert as_text(found[1]).endswith('"k0": "v9"')


def test_a_batch_is_told_with_all_that_is_unusual_about_it(tmp_path: Path) -> None:
    data = build(
        [Record(0, 5, None, b"v")],
        codec=4,
        producer_id=7,
        producer_epoch=1,
        base_sequence=3,
        timestamp_type=1,
        transactional=True,
        delete_horizon=1000,
    )
    told = as_text(of(write(tmp_path, 0, ".log", bytes(data)))[0])

    for words in ("zstd", "LogAppendTime", "producer 7/1 from 3", "transactional", "tombstones until"):
        assert words in told


def test_a_damaged_batch_cries_out(tmp_path: Path) -> None:
    (row,) = of(write(tmp_path, 0, ".log", batch(0)[:-1] + b"?"))

    assert not row["intact"]
    assert "CHECKSUM DOES NOT HOLD" in as_text(row)


def test_what_cannot_be_read_ends_a_file_with_a_problem(tmp_path: Path) -> None:
    found = of(write(tmp_path, 0, ".log", batch(0) + bytes(100)))

    assert [row["type"] for row in found] == ["batch", "problem"]
    assert as_text(found[1]).startswith("! no batch")


def test_metadata_is_opened_in_any_case(tmp_path: Path) -> None:
    value = encode_record(TopicRecord("orders", b"a" * 16))
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    found = of(write(folder, 0, ".log", bytes(build([Record(0, 5, None, value)]))))

    assert found[1]["metadata"]["name"] == "TopicRecord"
    assert as_text(found[1]).endswith(f'TopicRecord name="orders" topic_id="{TOPIC_ID}"')


def test_null_binary_and_headers_are_shown(tmp_path: Path) -> None:
    data = build([Record(0, 5, None, b"\xff", (("h", b"1"), ("g", None)))])
    row = of(write(tmp_path, 0, ".log", bytes(data)), records=True)[1]

    assert as_text(row).endswith('null: base64:/w==  [h="1" g=null]')


def test_every_file_of_a_data_directory_has_rows(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    (data / "quorum-state").write_text('{"leaderId":1}')
    found = {
        file.name: [as_text(row) for row in rows(file, records=False)]
        for path in (data, data / "orders-0")
        for file in data_files(str(path))
    }

    assert found[".kafka_cleanshutdown"] == ["version 0  brokerEpoch 3"]
    assert found["quorum-state"] == ["leaderId 1"]
    assert found["meta.properties"] == ["cluster_id c  node_id 1  directory_id d"]
    assert found["recovery-point-offset-checkpoint"] == ["topic orders  partition 0  offset 12"]
    assert found["leader-epoch-checkpoint"] == ["epoch 0  start 0", "epoch 1  start 9"]
    assert found["partition.metadata"] == [f"topic_id {TOPIC_ID}"]
    assert found[f"{0:020d}.timeindex"] == ["timestamp 1005  offset 5", "timestamp 1008  offset 8"]
    assert found[f"{9:020d}.snapshot"][0].startswith("producer_id 7  producer_epoch 0  last_sequence 8")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("quorum-state", b"{"),
        ("meta.properties", b""),
        ("leader-epoch-checkpoint", b"x"),
        ("partition.metadata", b""),
        ("00000000000000000000.snapshot", b"short"),
        ("00000000000000000000.index", b"\1"),
        ("notes.txt", b""),
    ],
)
def test_whatever_is_in_a_file_is_rows(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    (row,) = of(tmp_path / name)

    assert row["type"] == "problem"


def test_every_row_is_json(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    for path in (data, data / "orders-0"):
        for file in data_files(str(path)):
            for row in rows(file, records=True):
                json.dumps(row)
