"""What lies in the folder of a new node, and what it means to those who come later."""

import pytest

from andiron.broker.metadata.bootstrap_checkpoint import FILE as BOOTSTRAP
from andiron.broker.metadata.metadata_damage import DamagedMetadata
from andiron.broker.metadata.standalone_format import FIRST
from andiron.controller.records import FeatureLevelRecord, decode_record
from andiron.log import scan
from andiron.model.ids import Address
from andiron.quorum.records import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
    decode_control,
)
from andiron.quorum.snapshot_format import entries_of
from andiron.records.control import control_records
from andiron.sim.disk import Killed, MemoryDisk
from worlds.node import START, SmallNode

HERE = "/data/__cluster_metadata-0"
STATIC = {"controller_quorum_voters": "1@localhost:9093"}


def entries(node, path):
    file = node.disk.open(path)
    try:
        return list(entries_of(scan.batches(file, 0, file.size)))
    finally:
        file.close()


def control_batches(node):
    """What the leaders of the metadata have written into its log, a list for each batch."""
    file = node.disk.open(f"{HERE}/00000000000000000000.log")
    batches = [batch for batch in scan.batches(file, 0, file.size) if batch.is_control]
    file.close()
    return [[decode_control(*each) for each in control_records(batch)] for batch in batches]


def voters(node):
    return node.node.broker.raft.voters


def of_before():
    """A disk on which a node began that was told its voters, as all were before there was a founding."""
    node = SmallNode(**STATIC)
    node.create("t")
    node.node.stop(node.now)
    return node.disk


def test_a_new_folder_has_a_snapshot_that_names_the_one_voter(node):
    header, level, named, footer = entries(node, f"{HERE}/{FIRST.file_name}")

    assert header == SnapshotHeaderRecord(0, START)
    assert level == KRaftVersionRecord(0, 1)
    assert isinstance(named, VotersRecord)
    [voter] = named.voters
    assert (voter.voter_id, voter.voter_directory_id) == (1, node.node.broker.directories.metadata_id)
    assert [(each.name, each.host, each.port) for each in voter.endpoints] == [
        ("CONTROLLER", "localhost", 9093)
    ]
    assert footer == SnapshotFooterRecord(0)


def test_a_new_folder_has_the_levels_of_its_features_beside_it(node):
    header, *levels, _footer = entries(node, f"/data/{BOOTSTRAP}")

    assert header == SnapshotHeaderRecord(0, 0)
    assert [decode_record(each) for each in levels] == [
        FeatureLevelRecord("metadata.version", 30),
        FeatureLevelRecord("eligible.leader.replicas.version", 1),
        FeatureLevelRecord("group.version", 1),
        FeatureLevelRecord("transaction.version", 2),
    ]


def test_the_first_leader_writes_the_voters_into_the_log_and_later_ones_do_not(node):
    node.restart()

    first, second = control_batches(node)
    assert [type(each) for each in first] == [LeaderChangeMessage, KRaftVersionRecord, VotersRecord]
    assert [type(each) for each in second] == [LeaderChangeMessage]
    assert voters(node).kraft_version == 1


def test_a_voter_that_is_reached_elsewhere_says_so_in_the_log():
    node = SmallNode()
    node.node.stop(node.now)

    moved = SmallNode(node.disk, seed=2, listeners="PLAINTEXT://localhost:9092,CONTROLLER://elsewhere:7")

    [_, (_, _, named)] = control_batches(moved)
    assert [(each.host, each.port) for each in named.voters[0].endpoints] == [("elsewhere", 7)]
    assert voters(moved).addresses[1] == Address("elsewhere", 7)


def test_a_folder_of_before_goes_on_as_it_is_and_so_does_one_whose_settings_name_the_voters():
    disk = of_before()

    for settings in ({}, STATIC):
        node = SmallNode(disk, seed=2, **settings)
        assert voters(node).kraft_version == 0
        assert "t" in node.node.broker.image.topics
        assert not disk.exists(f"{HERE}/{FIRST.file_name}")
        node.node.stop(node.now)


def test_a_folder_that_has_lost_its_metadata_but_for_the_first_snapshot_is_not_begun_anew():
    node = SmallNode()
    node.create("t")
    node.produce("t", b"a")
    node.node.stop(node.now)
    for name in node.disk.names(HERE):
        if name != FIRST.file_name:
            node.disk.remove(f"{HERE}/{name}")

    with pytest.raises(DamagedMetadata, match="there is no metadata"):
        SmallNode(node.disk, seed=2)


@pytest.mark.parametrize("fuse", range(1, 30))
def test_a_founding_that_is_cut_short_is_done_again(fuse):
    disk = MemoryDisk()
    disk.fuse = fuse
    with pytest.raises(Killed):
        SmallNode(disk)
    disk.fuse = None

    node = SmallNode(disk, seed=2)

    assert voters(node).kraft_version == 1
    assert node.node.broker.image.features["metadata.version"] == 30
