"""A folder that was formatted for Kafka begins as the one who formatted it has said."""

import pytest

from andiron.broker.metadata.bootstrap_checkpoint import bootstrap_records
from andiron.controller.records import (
    ConfigRecord,
    FeatureLevelRecord,
    UserScramCredentialRecord,
)
from andiron.model.errors import ProtocolError
from andiron.sim.disk import MemoryDisk
from worlds.formatted import formatted
from worlds.node import SmallNode

LOGIN = UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096)
SAID = [FeatureLevelRecord("metadata.version", 27), FeatureLevelRecord("share.version", 1), LOGIN]


def test_a_folder_without_the_file_says_nothing():
    assert bootstrap_records(MemoryDisk(), "/data") == []


def test_its_records_are_read_in_their_order():
    assert bootstrap_records(formatted(*SAID), "/data") == SAID


def test_one_that_was_cut_short_is_an_error():
    disk = formatted(*SAID)
    disk.write_file("/data/bootstrap.checkpoint", disk.read_file("/data/bootstrap.checkpoint")[:-1])

    with pytest.raises(ProtocolError):
        bootstrap_records(disk, "/data")


def test_a_cluster_begins_with_what_its_folder_says_and_does_so_once():
    node = SmallNode(formatted(*SAID))
    assert node.node.broker.image.features == {"metadata.version": 27, "share.version": 1}
    assert list(node.node.broker.image.unserved) == [LOGIN]
    assert node.node.broker.image.configs == {}, "without eligible leaders there is no number for all"

    node.disk.write_file("/data/bootstrap.checkpoint", b"of no use any more")
    node.restart()

    assert node.node.broker.image.features == {"metadata.version": 27, "share.version": 1}


def test_with_eligible_leaders_comes_one_number_for_all():
    node = SmallNode(formatted(*SAID, FeatureLevelRecord("eligible.leader.replicas.version", 1)))

    assert node.node.broker.image.configs == {(4, ""): {"min.insync.replicas": "1"}}


def test_a_number_that_was_given_is_kept():
    number = ConfigRecord(4, "", "min.insync.replicas", "2")
    node = SmallNode(formatted(*SAID, FeatureLevelRecord("eligible.leader.replicas.version", 1), number))

    assert node.node.broker.image.configs == {(4, ""): {"min.insync.replicas": "2"}}
