from __future__ import annotations

import pytest

from andiron.log.producer_snapshots import ProducerSnapshots, SnapshotError, decode_snapshot, encode_snapshot
from andiron.log.producers import BatchMetadata, Producers, ProducerState
from andiron.records.crc32c import crc32c
from andiron.sim.disk import MemoryDisk


def state(producer, *batches, epoch=0, transaction_start=-1, coordinator_epoch=-1):
    found = ProducerState(producer, epoch)
    for batch in batches:
        found.remember(batch)
    found.transaction_start, found.coordinator_epoch = transaction_start, coordinator_epoch
    return found


TWO = Producers(
    [
        state(7, BatchMetadata(4, 104, 4, 50), BatchMetadata(6, 106, 1, 60), epoch=3),
        state(8, epoch=1, transaction_start=90, coordinator_epoch=2),
    ]
)


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("t-0")
    return disk


def test_the_file_is_version_checksum_and_entries():
    data = encode_snapshot(TWO)
    entries = bytes.fromhex(
        "00000002"
        "0000000000000007 0003 00000006 000000000000006a 00000001 000000000000003c ffffffff ffffffffffffffff"
        "0000000000000008 0001 ffffffff ffffffffffffffff 00000000 ffffffffffffffff 00000002 000000000000005a"
    )
    assert data == b"\x00\x01" + crc32c(entries).to_bytes(4, "big") + entries


def test_a_snapshot_keeps_the_last_batch_of_each_producer():
    read = decode_snapshot(encode_snapshot(TWO))
    assert read.get(7).batches == [BatchMetadata(6, 106, 1, 60)]
    assert (read.get(7).epoch, read.get(7).next_sequence, read.get(7).last_timestamp) == (3, 7, 60)
    assert (read.get(8).batches, read.get(8).coordinator_epoch) == ([], 2)
    assert read.last_stable(200) == 90


@pytest.mark.parametrize("damage", [0, 3, 8, 20, -1])
def test_a_flipped_bit_is_noticed(damage):
    data = bytearray(encode_snapshot(TWO))
    data[damage] ^= 4
    with pytest.raises(SnapshotError):
        decode_snapshot(bytes(data))


@pytest.mark.parametrize("length", [0, 9, 10, 50])
def test_a_torn_file_is_noticed(length):
    with pytest.raises(SnapshotError):
        decode_snapshot(encode_snapshot(TWO)[:length])


def test_the_newest_not_above_an_offset_is_loaded(disk):
    snapshots = ProducerSnapshots(disk, "t-0", ())
    snapshots.take(Producers(), 50)
    snapshots.take(TWO, 100)
    assert snapshots.newest == 100
    offset, producers = snapshots.load(120, [])
    assert (offset, len(producers)) == (100, 2)
    assert snapshots.load(99, [])[0] == 50
    assert snapshots.load(49, []) is None


def test_a_broken_one_gives_way_to_the_one_before(disk):
    notices = []
    snapshots = ProducerSnapshots(disk, "t-0", ())
    snapshots.take(TWO, 50)
    snapshots.take(TWO, 100).truncate(30)
    assert snapshots.load(120, notices)[0] == 50
    assert "00000000000000000100.snapshot is not used" in notices[0]
    assert list(disk.names("t-0")) == ["00000000000000000050.snapshot"]


def test_taking_one_again_replaces_it(disk):
    snapshots = ProducerSnapshots(disk, "t-0", ())
    snapshots.take(TWO, 50)
    snapshots.take(Producers(), 50)
    assert disk.names("t-0") == {"00000000000000000050.snapshot": 10}


def test_those_of_segments_and_the_newest_are_kept(disk):
    snapshots = ProducerSnapshots(disk, "t-0", ())
    for offset in (10, 20, 30, 40, 50, 60):
        snapshots.take(Producers(), offset)
    snapshots.keep([20, 40], upto=50)
    assert [int(name[:20]) for name in disk.names("t-0")] == [20, 40, 50]
    snapshots.keep([20, 40], upto=45)
    assert [int(name[:20]) for name in disk.names("t-0")] == [20, 40]
    snapshots.keep([], -1)
    assert snapshots.newest == -1
