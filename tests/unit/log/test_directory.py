from __future__ import annotations

import pytest

from andiron.log.checkpoints import LOG_STARTS, RECOVERY_POINTS
from andiron.log.directory import DirectoryError, Identity, LogDirectory, owners
from andiron.model.ids import TopicPartition
from andiron.sim.disk import MemoryDisk

OURS = Identity("aOn33Wh5RXuw7gRvK0a5Lg", 1, "txxwTPHBb7oyIeFzvUT-GQ")


@pytest.fixture
def disk():
    return MemoryDisk()


def test_a_new_directory_is_made_ours(disk):
    directory = LogDirectory.open(disk, "data", OURS)
    assert directory.identity == OURS
    assert disk.read_file("data/meta.properties") == (
        b"#\ncluster.id=aOn33Wh5RXuw7gRvK0a5Lg\ndirectory.id=txxwTPHBb7oyIeFzvUT-GQ\nnode.id=1\nversion=1\n"
    )


def test_a_directory_that_kafka_made_is_read(disk):
    disk.make_directory("data")
    disk.write_file(
        "data/meta.properties",
        b"#\n#Sun Nov 15 21:38:22 UTC 2026\nnode.id=4\ndirectory.id=x\nversion=1\ncluster.id=abc\n",
    )
    assert LogDirectory.identity_at(disk, "data") == Identity("abc", 4, "x")


def test_an_existing_directory_keeps_its_id(disk):
    LogDirectory.open(disk, "data", OURS)
    again = LogDirectory.open(disk, "data", OURS._replace(directory_id="another"))
    assert again.identity == OURS


def test_a_directory_without_an_id_gets_one(disk):
    LogDirectory.open(disk, "data", OURS._replace(directory_id=""))
    LogDirectory.open(disk, "data", OURS)
    assert LogDirectory.identity_at(disk, "data") == OURS


@pytest.mark.parametrize(
    ("there", "complaint"),
    [
        (
            OURS._replace(cluster_id="other"),
            "data belongs to cluster other, and this node to aOn33Wh5RXuw7gRvK0a5Lg; choose another folder",
        ),
        (
            OURS._replace(node_id=3),
            "data belongs to node 3, and this is node 1; start it with node.id=3, or choose another folder",
        ),
    ],
)
def test_a_directory_of_others_is_refused_in_one_line(disk, there, complaint):
    LogDirectory.open(disk, "data", there)
    with pytest.raises(DirectoryError) as refused:
        LogDirectory.open(disk, "data", OURS)
    assert str(refused.value) == complaint


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "has version None, not 1"),
        (b"version=0\nbroker.id=1\n", "has version 0, not 1"),
        (b"version=1\nnode.id=1\n", "has no cluster.id"),
        (b"version=1\ncluster.id=x\n", "has no node.id"),
        (b"version=1\ncluster.id=x\nnode.id=one\n", "'one', which is not a number"),
        (b"\xff\xfe", "has version None"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(disk, data, complaint):
    disk.make_directory("data")
    disk.write_file("data/meta.properties", data)
    with pytest.raises(DirectoryError, match=complaint):
        LogDirectory.open(disk, "data", OURS)


def test_the_mark_of_a_clean_stop_is_taken_once(disk):
    directory = LogDirectory.open(disk, "data", OURS)
    assert not directory.take_clean_mark()
    directory.leave_clean_mark(11)
    assert disk.read_file("data/.kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":11}'
    assert directory.take_clean_mark() == 11
    assert directory.take_clean_mark() is None


@pytest.mark.parametrize(
    ("mark", "epoch"),
    [
        (b'{"version":0,"brokerEpoch":0}', 0),
        (b'{"version": 0, "brokerEpoch": 7}', 7),
        (b'{"version":0,"brokerEpoch":-1}', -1),
        (b"", -1),
        (b"clean, says an older broker", -1),
    ],
)
def test_the_mark_tells_the_epoch_of_the_broker_that_left_it(disk, mark, epoch):
    directory = LogDirectory.open(disk, "data", OURS)
    disk.write_file("data/.kafka_cleanshutdown", mark)
    assert directory.take_clean_mark() == epoch


def test_partitions_are_its_folders(disk):
    directory = LogDirectory.open(disk, "data", OURS)
    for name in (
        "orders-0",
        "a-b-11",
        f"orders-1.{'0f' * 16}-delete",
        "x-0.y-future",
        "x-1.y-stray",
        "lost+found",
    ):
        disk.make_directory(f"data/{name}")
    assert directory.partitions() == [TopicPartition("a-b", 11), TopicPartition("orders", 0)]
    assert directory.leftovers() == [f"data/orders-1.{'0f' * 16}-delete"]
    assert directory.folder_of(TopicPartition("orders", 0)) == "data/orders-0"


def test_checkpoints_are_saved_and_loaded_by_name(disk):
    directory, notices = LogDirectory.open(disk, "data", OURS), []
    directory.save(RECOVERY_POINTS, {TopicPartition("orders", 0): 7})
    assert directory.load(RECOVERY_POINTS, notices) == {TopicPartition("orders", 0): 7}
    assert directory.load(LOG_STARTS, notices) == {}
    assert notices == []


def test_it_knows_the_room_it_has(disk):
    total, free = LogDirectory.open(disk, "data", OURS).usage()
    assert 0 < free <= total


# ── what others have put there ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "held", ["data/photos-2024/a.jpg", "data/notes.txt", "data/orders-0/partition.metadata"]
)
def test_a_directory_that_holds_something_and_has_no_owner_is_refused(disk, held):
    disk.make_directory(held.rpartition("/")[0])
    disk.write_file(held, b"mine")

    with pytest.raises(DirectoryError, match=r"^data has \S+ in it and no meta.properties"):
        owners(disk, ["new", "data"])

    assert disk.read_file(held) == b"mine"
    assert not disk.exists("new")


def test_a_directory_with_nothing_of_note_in_it_is_new(disk):
    disk.make_directory("data/lost+found")
    disk.write_file("data/.gitkeep", b"")

    assert owners(disk, ["data"]) == [None]


def test_a_new_directory_within_a_nodes_own_is_refused_unless_it_is_the_same_nodes(disk):
    LogDirectory.open(disk, "data", OURS)

    with pytest.raises(DirectoryError, match="data/orders-0 lies in the data of a node, data"):
        owners(disk, ["data/orders-0"])
    assert owners(disk, ["data", "data/metadata"]) == [OURS, None]


def test_a_folder_is_not_removed_for_its_name_alone(disk):
    directory = LogDirectory.open(disk, "data", OURS)
    for folder in ("backup-1.old-delete", "orders-0.abc-delete", "orders-1.abc-delete"):
        disk.make_directory(f"data/{folder}")
    disk.write_file("data/backup-1.old-delete/thesis.tex", b"")
    disk.write_file("data/orders-0.abc-delete/leader-epoch-checkpoint", b"")

    assert directory.leftovers() == ["data/orders-0.abc-delete", "data/orders-1.abc-delete"]
