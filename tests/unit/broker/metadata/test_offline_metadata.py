"""What a folder tells of its node without a start."""

import pytest

from andiron.broker.metadata.offline_metadata import read_offline_metadata
from andiron.controller.image_writer import records_of
from andiron.sim.disk import MemoryDisk
from worlds.node import SmallNode

HERE = "/data/__cluster_metadata-0"


def stopped(**properties):
    node = SmallNode(**properties)
    node.create("t", partitions=3, retention_ms=5)
    node.alter_broker("", message_max_bytes="7000")
    node.node.stop(node.now)
    return node


def contents(disk):
    return {name: disk.read_file(f"{HERE}/{name}") for name in disk.names(HERE)}


@pytest.mark.parametrize("between", ["100", "1000000"])
def test_the_image_is_that_of_the_node_and_nothing_is_changed(between):
    """With snapshots in the folder, and with none but the first."""
    node = stopped(metadata_log_max_record_bytes_between_snapshots=between)
    before = contents(node.disk)

    found = read_offline_metadata(node.disk, "/data")

    assert list(records_of(found.image)) == list(records_of(node.node.broker.image))
    assert [(each.id, str(each.address)) for each in found.voters] == [(1, "localhost:9093")]
    assert contents(node.disk) == before


def test_a_log_that_names_no_voters_has_none():
    node = stopped(controller_quorum_voters="1@localhost:9093")

    assert read_offline_metadata(node.disk, "/data").voters is None


def test_a_torn_end_is_left_out():
    node = stopped()
    file = node.disk.open(f"{HERE}/00000000000000000000.log")
    file.append(b"\0\0\0")

    assert "t" in read_offline_metadata(node.disk, "/data").image.topics


def test_a_folder_without_metadata_has_an_empty_image():
    found = read_offline_metadata(MemoryDisk(), "/data")

    assert (found.image.brokers, found.voters) == ({}, None)
