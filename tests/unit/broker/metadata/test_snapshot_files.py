"""Snapshots on the disk: what a start finds, what it passes over, and how the log goes on from them."""

import pytest

from andiron.broker.metadata.snapshot_files import SnapshotFiles, SnapshotReader, align_log_with_snapshots
from andiron.controller.image import Image
from andiron.controller.records import PartitionRecord, TopicRecord, encode_record
from andiron.log.checkpoints import LogCheckpoint
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.errors import ProtocolError
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.quorum.records import KRaftVersionRecord, Voter, VotersRecord
from andiron.quorum.snapshot_format import SnapshotId, batches_of
from andiron.quorum.snapshot_table import SnapshotTable, StoredSnapshot
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.sim.disk import MemoryDisk

HERE = "/data/__cluster_metadata-0"
OLD, NEW = SnapshotId(10, 1), SnapshotId(20, 2)


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory(HERE)
    return disk


def written(disk, id, *names, about=()):
    """A whole snapshot with topics of these names."""
    files = SnapshotFiles(disk, HERE)
    file = files.begin(id)
    for batch in batches_of(id, id.end * 1000, (encode_record(topic(name)) for name in names), about):
        file.append(batch)
    file.sync()
    files.finish(id, file, id.end * 1000)
    return f"{HERE}/{id.file_name}"


def topic(name):
    return TopicRecord(name, name.encode().ljust(16))


def opened(disk):
    files = SnapshotFiles(disk, HERE)
    files.open()
    return files


def test_what_was_written_is_found_again(disk):
    path = written(disk, OLD, "a", "b")

    files = opened(disk)

    assert list(files.table) == [OLD]
    assert files.table.get(OLD) == StoredSnapshot(OLD, len(disk.read_file(path)), 10_000)
    found = files.newest()
    assert (found.id, list(found.image.topics), found.image.next_offset) == (OLD, ["a", "b"], 10)
    assert found.voters is None
    assert files.read(OLD, 0, 1 << 20) == disk.read_file(path)
    assert files.read(OLD, 3, 5) == disk.read_file(path)[3:8]


def test_without_any_there_is_no_image(disk):
    assert opened(disk).newest() is None


def test_a_snapshot_of_nothing_stands_somewhere_all_the_same(disk):
    written(disk, OLD)

    assert opened(disk).newest().image.next_offset == 10


def test_it_says_who_votes_where_the_settings_do_not(disk):
    voters = VotersRecord(0, [Voter(1, b"d" * 16)])
    written(disk, OLD, "a", about=[KRaftVersionRecord(0, 1), voters])

    assert opened(disk).newest().voters == voters


def test_what_was_not_finished_goes(disk):
    files = SnapshotFiles(disk, HERE)
    files.begin(NEW).append(b"the first half of something")

    files = opened(disk)
    assert list(files.table) == []
    files.sweep()
    assert disk.names(HERE) == {}


def test_what_is_given_up_goes(disk):
    files = SnapshotFiles(disk, HERE)
    files.begin(NEW)
    files.abandon(NEW)

    assert disk.names(HERE) == {}


@pytest.mark.parametrize("left", [0, 1, 90, -1])
def test_one_that_was_cut_is_passed_over_with_a_notice_and_an_older_one_serves(disk, caplog, left):
    written(disk, OLD, "old")
    path = written(disk, NEW, "old", "new")
    disk.write_file(path, disk.read_file(path)[:left])

    files = opened(disk)
    found = files.newest()

    assert (found.id, list(found.image.topics)) == (OLD, ["old"])
    assert list(files.table) == [OLD]
    assert f"Metadata snapshot {NEW.file_name} cannot be read" in caplog.text
    assert disk.exists(path), "for whoever wants to look at it"


def test_one_that_makes_no_sense_is_passed_over(disk, caplog):
    files = SnapshotFiles(disk, HERE)
    file = files.begin(NEW)
    stray = PartitionRecord(0, b"x" * 16)
    for batch in batches_of(NEW, 0, [encode_record(stray)]):
        file.append(batch)
    files.finish(NEW, file, 0)

    assert opened(disk).newest() is None
    assert "what is not there" in caplog.text


def test_old_ones_go_and_damaged_ones_with_them(disk):
    written(disk, NEW, "new")
    damaged = written(disk, OLD, "old")
    disk.write_file(damaged, b"damaged")
    files = opened(disk)

    files.drop_before(20)

    assert list(disk.names(HERE)) == [NEW.file_name]
    assert list(files.table) == [NEW]


def test_it_is_read_a_little_at_a_time(disk):
    written(disk, NEW, *(f"t{number}" for number in range(10)))
    loading = SnapshotReader(opened(disk).entries(NEW), NEW, Image())

    assert not loading.go_on(4)
    assert list(loading.image.topics) == ["t0", "t1", "t2"], "and the header"
    assert loading.go_on()
    assert (len(loading.image.topics), loading.timestamp) == (10, 20_000)


# ── the log goes on from them ────────────────────────────────────────────────────────


def log(disk, end, epoch=1, start=0):
    """A metadata log of records of one epoch."""
    held = PartitionLog.open(
        LogFolder(disk, HERE),
        TopicIdPartition(b"\x01" * 16, TopicPartition("__cluster_metadata", 0)),
        LogSettings(),
        checkpoint=LogCheckpoint(log_start=start),
        now=0,
    )
    for _ in range(start, end):
        records = build([Record(0, 0, None, b"x")])
        held.append(Batch(records), epoch, 0)
    return held


def test_a_log_that_has_all_stays_as_it_is(disk):
    held = log(disk, 30)
    align_log_with_snapshots(held, SnapshotTable([StoredSnapshot(OLD, 1, 0)]), 0)

    assert (held.start, held.end) == (0, 30)


def test_a_log_that_ends_before_the_snapshot_begins_again_where_that_ends(disk):
    """A snapshot was fetched, and then the power went."""
    held = log(disk, 15)
    align_log_with_snapshots(held, SnapshotTable([StoredSnapshot(NEW, 1, 0)]), 0)

    assert (held.start, held.end) == (20, 20)


def test_a_log_with_other_records_than_the_snapshot_stands_for_begins_again_too(disk):
    held = log(disk, 30, epoch=1)
    align_log_with_snapshots(held, SnapshotTable([StoredSnapshot(NEW, 1, 0)]), 0)

    assert (held.start, held.end) == (20, 20)


def test_a_log_that_begins_within_what_a_snapshot_stands_for_starts_where_that_ends(disk):
    held = log(disk, 30, epoch=2, start=15)
    align_log_with_snapshots(held, SnapshotTable([StoredSnapshot(OLD, 1, 0), StoredSnapshot(NEW, 1, 0)]), 0)

    assert (held.start, held.end) == (20, 30)


def test_a_log_that_no_snapshot_reaches_is_of_no_use(disk):
    held = log(disk, 30, epoch=2, start=15)

    with pytest.raises(ProtocolError, match="starts at 15, and no snapshot"):
        align_log_with_snapshots(held, SnapshotTable([StoredSnapshot(OLD, 1, 0)]), 0)
