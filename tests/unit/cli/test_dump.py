"""Files are read as what their names say, and never written to."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from andiron.cli import dump
from andiron.cli.dump import DataFile, DumpError, Kind, ReadOnlyFile, data_file
from andiron.controller.records import NoOpRecord, TopicRecord, encode_record
from andiron.log.producer_snapshots import SnapshotError
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicPartition
from andiron.quorum.records import LeaderChangeMessage, LeaderChangeVoter, encode_control
from andiron.records.batch import Batch
from andiron.records.control import control_batch, end_marker
from andiron.records.record import Record, records_of
from unit.cli.folders import TOPIC_ID, batch, snapshot, write, write_data, write_partition


@pytest.mark.parametrize(
    ("name", "kind", "base", "state"),
    [
        ("00000000000000000123.log", Kind.SEGMENT, 123, ""),
        ("00000000000000000123.index", Kind.OFFSET_INDEX, 123, ""),
        ("00000000000000000123.timeindex.deleted", Kind.TIME_INDEX, 123, ".deleted"),
        ("00000000000000000123.txnindex", Kind.ABORT_INDEX, 123, ""),
        ("00000000000000000123.snapshot", Kind.PRODUCERS, 123, ""),
        ("00000000000000000123-0000000004.checkpoint", Kind.SEGMENT, 123, ""),
        ("bootstrap.checkpoint", Kind.SEGMENT, 0, ""),
        ("leader-epoch-checkpoint", Kind.EPOCHS, 0, ""),
        ("replication-offset-checkpoint", Kind.OFFSETS, 0, ""),
        ("partition.metadata", Kind.PARTITION_METADATA, 0, ""),
        ("meta.properties", Kind.META, 0, ""),
        ("quorum-state", Kind.JSON, 0, ""),
        ("notes.txt", Kind.UNKNOWN, 0, ""),
    ],
)
def test_a_name_says_what_a_file_is(name: str, kind: Kind, base: int, state: str) -> None:
    assert data_file(f"x/{name}") == DataFile(f"x/{name}", kind, base, state)


def test_the_metadata_log_is_known_by_its_folder() -> None:
    assert data_file("data/__cluster_metadata-0/00000000000000000000.log").is_metadata
    assert not data_file("data/orders-0/00000000000000000000.log").is_metadata
    assert data_file("data/bootstrap.checkpoint").is_metadata


def test_a_folder_holds_a_partition_or_not(tmp_path: Path) -> None:
    for name in ("my-orders-12", "orders-0.abc-delete", "data"):
        write_partition(tmp_path / name)
    (tmp_path / "photos-2024").mkdir()

    assert dump.partition_folder(str(tmp_path / "my-orders-12")) == TopicPartition("my-orders", 12)
    assert dump.partition_folder(str(tmp_path / "orders-0.abc-delete")) is None
    assert dump.partition_folder(str(tmp_path / "data")) is None
    assert dump.partition_folder(str(tmp_path / "photos-2024")) is None


def test_a_clean_stop_leaves_a_mark(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    assert dump.was_stopped_cleanly(str(data))

    (data / ".kafka_cleanshutdown").unlink()
    assert not dump.was_stopped_cleanly(str(data))


def test_a_segment_is_its_batches(tmp_path: Path) -> None:
    path = write(tmp_path, 0, ".log", batch(0) + batch(3))

    size = len(batch(0))
    found = [(position, each.base_offset) for position, each in dump.segment_batches(str(path))]
    assert found == [(0, 0), (size, 3)]


def test_a_torn_segment_gives_what_is_whole_and_then_complains(tmp_path: Path) -> None:
    path = write(tmp_path, 0, ".log", batch(0) + batch(3)[:-1])
    batches = dump.segment_batches(str(path))
    next(batches)

    with pytest.raises(ProtocolError):
        next(batches)


def test_small_files_are_read_whole(tmp_path: Path) -> None:
    folder = str(write_partition(tmp_path / "orders-0"))
    stem = f"{folder}/{0:020d}"

    assert dump.offset_entries(data_file(f"{stem}.index")) == [(5, len(batch(0)))]
    assert dump.time_entries(data_file(f"{stem}.timeindex")) == [(1005, 5), (1008, 8)]
    assert [state.id for state in dump.producers(f"{folder}/{9:020d}.snapshot")] == [7]
    assert dump.epochs(f"{folder}/leader-epoch-checkpoint") == [(0, 0), (1, 9)]
    assert dump.topic_id(f"{folder}/partition.metadata") == TOPIC_ID


def test_files_of_the_data_directory_are_read(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")

    assert dump.offsets(f"{data}/recovery-point-offset-checkpoint") == {TopicPartition("orders", 0): 12}
    assert dump.identity(f"{data}/meta.properties").node_id == 1


def test_a_checkpoint_that_was_never_written_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(b"")

    assert dump.offsets(f"{tmp_path}/cleaner-offset-checkpoint") == {}


def test_aborted_transactions_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, 0, ".txnindex", struct.pack(">hqqqq", 0, 7, 10, 20, 21))

    assert dump.abort_entries(data_file(str(path))) == [(7, 10, 20, 21)]


def test_entries_are_counted_from_the_segments_base(tmp_path: Path) -> None:
    path = write(tmp_path, 1000, ".index", struct.pack(">ii", 5, 200))

    assert dump.offset_entries(data_file(str(path))) == [(1005, 200)]


def test_room_reserved_behind_the_last_entry_is_no_entry(tmp_path: Path) -> None:
    path = write(tmp_path, 0, ".index", struct.pack(">ii", 5, 200) + bytes(8 * 100 + 3))

    assert dump.offset_entries(data_file(str(path))) == [(5, 200)]


def test_a_part_of_an_entry_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, 0, ".index", struct.pack(">ii", 5, 200) + b"\0\0\1")

    with pytest.raises(DumpError, match="part of an entry"):
        dump.offset_entries(data_file(str(path)))


def test_a_snapshot_that_was_damaged_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, 9, ".snapshot", snapshot((7, 8))[:-1] + b"?")

    with pytest.raises(SnapshotError):
        dump.producers(str(path))


def test_a_file_that_is_looked_at_cannot_be_written_to(tmp_path: Path) -> None:
    path = write(tmp_path, 0, ".log", batch(0))
    file = ReadOnlyFile(str(path))

    with pytest.raises(PermissionError):
        file.append(b"x")
    with pytest.raises(PermissionError):
        file.truncate(0)
    file.sync()
    file.close()
    assert os.path.getsize(path) == len(batch(0))


def test_metadata_records_are_told_by_name_and_fields() -> None:
    record = TopicRecord("orders", b"a" * 16)

    assert dump.metadata_fields(Record(0, 0, None, encode_record(record))) == {
        "name": "TopicRecord",
        "fields": {"name": "orders", "topic_id": TOPIC_ID},
    }
    assert dump.metadata_fields(Record(0, 0, None, encode_record(NoOpRecord())))["fields"] == {}


def test_control_records_are_told_by_name_and_fields() -> None:
    marker = Batch(bytes(end_marker(True, producer_id=1, producer_epoch=0, coordinator_epoch=5, timestamp=0)))
    change = encode_control(LeaderChangeMessage(0, 1, [LeaderChangeVoter(1)], []))
    quorum = Batch(bytes(control_batch([change], timestamp=0)))

    assert dump.control_fields(marker, next(records_of(marker))) == {"name": "COMMIT", "coordinator_epoch": 5}
    told = dump.control_fields(quorum, next(records_of(quorum)))
    assert told["name"] == "LeaderChangeMessage"
    assert told["fields"]["voters"] == [{"voter_id": 1, "voter_directory_id": "A" * 22}]


def test_a_control_record_of_the_future_has_no_name() -> None:
    later = Batch(bytes(batch(0)))
    record = Record(0, 0, struct.pack(">hh", 0, 99), b"")

    assert dump.control_fields(later, record) == {"name": "UNKNOWN"}
