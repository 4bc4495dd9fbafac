"""Moving replicas between log directories: what is answered."""

import pytest

from andiron.model.ids import TopicPartition
from andiron.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from worlds.node import SmallNode, error_of


@pytest.fixture
def two():
    node = SmallNode(log_dirs="/one,/two")
    node.create("t", partitions=2)
    return node


def move(node, path, topic="t", partition=0, version=2):
    wanted = AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(topic, [partition])])
    return error_of(node.ask(AlterReplicaLogDirsRequest([wanted]), version).results[0].partitions[0])


@pytest.mark.parametrize(
    ("path", "topic", "partition", "error"),
    [
        ("/three", "t", 0, "LOG_DIR_NOT_FOUND"),
        ("/two", "nope", 0, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("/two", "t", 5, "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_what_cannot_be_moved_is_refused(two, path, topic, partition, error):
    assert move(two, path, topic, partition) == error


@pytest.mark.parametrize("version", [1, 2])
def test_a_move_is_answered_when_it_has_begun(two, version):
    assert move(two, "/two", version=version) == "NONE"


def test_each_topic_is_answered_once_with_all_its_partitions(two):
    dirs = [
        AlterReplicaLogDir(path, [AlterReplicaLogDirTopic("t", [i])])
        for i, path in enumerate(["/two", "/no"])
    ]

    [result] = two.ask(AlterReplicaLogDirsRequest(dirs)).results

    assert [(each.partition_index, error_of(each)) for each in result.partitions] == [
        (0, "NONE"),
        (1, "LOG_DIR_NOT_FOUND"),
    ]


def test_a_replica_whose_disk_has_failed_is_not_moved(two):
    two.partition("t").fail("fsync failed")

    assert move(two, "/two") == "KAFKA_STORAGE_ERROR"


def test_a_replica_that_is_not_here_yet_is_put_there_when_it_comes(two, monkeypatch):
    broker = two.node.broker
    monkeypatch.setattr(broker.replica_manager, "get", lambda name: None)

    assert move(two, "/two") == "REPLICA_NOT_AVAILABLE"

    name = TopicPartition("t", 0)
    held = two.node.broker.replica_manager.peek(name).log
    broker.directories.give_up(held, two.now)
    opened = broker.directories.open_log(name, held.topic_id, held.settings, two.now)
    assert opened.directory == "/two/t-0"
