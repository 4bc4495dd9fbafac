from __future__ import annotations

import pytest

from andiron.log import partition_metadata
from andiron.log.layout import LayoutError
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.sim.disk import MemoryDisk

ID = bytes(range(16))
PATH = "orders-0/partition.metadata"


@pytest.fixture
def disk():
    disk = MemoryDisk()
    disk.make_directory("orders-0")
    return disk


def settle(disk, topic_id=ID, **how):
    notices = []
    written = partition_metadata.settle(disk, "orders-0", topic_id, disk.names("orders-0"), notices, **how)
    assert [file.path for file in written] in ([], [PATH])
    return notices


def test_a_new_folder_gets_its_topics_id(disk):
    assert settle(disk) == []
    assert disk.read_file(PATH) == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"


def test_a_folder_of_the_same_topic_is_left_alone(disk):
    settle(disk)
    assert settle(disk) == []


def test_an_id_that_may_not_be_on_the_disk_is_synced_where_records_without_it_are_nobodys(disk):
    settle(disk)
    names = disk.names("orders-0")
    (file,) = partition_metadata.settle(disk, "orders-0", ID, names, [], adopts=False)
    assert file.path == PATH
    assert partition_metadata.settle(disk, "orders-0", ID, names, [], adopts=True) == []


def test_a_folder_of_another_topic_is_refused(disk):
    settle(disk)
    with pytest.raises(ProtocolError, match="belongs to topic id AAECAwQFBgcICQoLDA0ODw") as refused:
        settle(disk, bytes(15) + b"x")
    assert refused.value.code is ErrorCode.INCONSISTENT_TOPIC_ID


def test_a_file_that_says_nothing_is_written_anew(disk):
    disk.write_file(PATH, b"")
    (notice,) = settle(disk)
    assert "written anew" in notice
    assert partition_metadata.decode(disk.read_file(PATH)) == ID


@pytest.mark.parametrize("there", [None, b""])
def test_records_without_an_id_are_nobodys_where_that_is_wanted(disk, there):
    disk.write_file("orders-0/00000000000000000000.log", b"records")
    if there is not None:
        disk.write_file(PATH, there)
    with pytest.raises(ProtocolError, match="does not say which topic it belongs to"):
        settle(disk, adopts=False)
    settle(disk)


def test_an_id_whose_end_was_lost_is_written_anew(disk):
    disk.write_file(PATH, partition_metadata.encode(ID[:15] + b"x"))
    (notice,) = settle(disk)
    assert "damaged by a crash" in notice
    assert partition_metadata.decode(disk.read_file(PATH)) == ID


@pytest.mark.parametrize("position", range(21, 43))
def test_an_id_with_a_flipped_bit_is_our_own(disk, position):
    """Or else one bit would set a topic's records aside, and begin with none."""
    settle(disk)
    damaged = bytearray(disk.read_file(PATH))
    damaged[position] ^= 1
    disk.write_file(PATH, bytes(damaged))

    (notice,) = settle(disk)

    assert "written anew" in notice
    assert partition_metadata.decode(disk.read_file(PATH)) == ID


def test_ids_read_back_and_a_trailing_newline_is_fine():
    assert partition_metadata.decode(partition_metadata.encode(ID) + b"\n") == ID


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\x00",
        b"version: 1\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
        b"version: 0",
        b"version: 0\ntopic_id: AAEC",
        b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0OD\xc3\xa4",
        b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODx",
    ],
)
def test_nonsense_is_refused(data):
    with pytest.raises(LayoutError):
        partition_metadata.decode(data)
