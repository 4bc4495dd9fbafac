"""What lies where, and how large it is."""

import pytest

from andiron.wire.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from worlds.node import SmallNode, error_of


def sizes(result):
    return {(t.name, p.partition_index): p.partition_size for t in result.topics for p in t.partitions}


@pytest.mark.parametrize("version", range(1, 6))
def test_every_partition_is_told_with_its_size(node, version):
    node.create("t", partitions=2)
    node.produce("t", bytes(100))

    [result] = node.ask(DescribeLogDirsRequest(None), version).results

    assert (error_of(result), result.log_dir) == ("NONE", "/data")
    assert sizes(result) == {("t", 0): node.log("t").size, ("t", 1): 0}
    assert node.log("t").size > 100


@pytest.mark.parametrize("version", [4, 5])
def test_the_room_on_the_disk_is_told(node, version):
    [result] = node.ask(DescribeLogDirsRequest(None), version).results

    assert (result.total_bytes, result.usable_bytes) == node.disk.usage("/data")


def test_only_the_partitions_asked_for_are_told(node):
    node.create("t", partitions=2)
    node.create("u")
    wanted = [DescribableLogDirTopic("t", [1, 7]), DescribableLogDirTopic("nope", [0])]

    assert set(sizes(node.ask(DescribeLogDirsRequest(wanted)).results[0])) == {("t", 1)}


def test_where_none_is_asked_for_the_directory_is_told_alone(node):
    node.create("t")

    [result] = node.ask(DescribeLogDirsRequest([])).results

    assert (result.log_dir, result.topics) == ("/data", [])


def test_several_directories_share_the_partitions():
    node = SmallNode(log_dirs="/one,/two")
    node.create("t", partitions=4)

    results = node.ask(DescribeLogDirsRequest(None)).results

    assert [(result.log_dir, len(sizes(result))) for result in results] == [("/one", 2), ("/two", 2)]


def test_a_disk_that_does_not_answer_is_told_as_failed(node):
    def usage(path):
        raise OSError("gone")

    node.disk.usage = usage

    [result] = node.ask(DescribeLogDirsRequest(None)).results

    assert error_of(result) == "KAFKA_STORAGE_ERROR"
