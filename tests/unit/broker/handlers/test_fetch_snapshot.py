"""FetchSnapshot: pieces of a snapshot, and what is said to those who cannot have them."""

import pytest

from andiron.model.errors import ErrorCode
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from andiron.wire.messages.fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotRequestPartition,
    FetchSnapshotRequestTopic,
    SnapshotId,
)
from worlds.node import Closed, SmallNode

CONTROLLERS = 7  # the connection
METADATA_ID = bytes(15) + b"\x01"


@pytest.fixture
def node():
    node = SmallNode(
        metadata_log_max_record_bytes_between_snapshots="1000",
        metadata_max_retention_bytes="0",
        controller_quorum_fetch_snapshot_max_bytes="500",
    )
    node.connect(CONTROLLERS, "CONTROLLER")
    for number in range(12):
        node.create(f"t{number}")
        node.settle()
    return node


def newest(node):
    return node.node.broker.raft.snapshots.table.newest


def asking(
    node, position=0, epoch=None, id=None, bytes_max=1 << 20, topic="__cluster_metadata", cluster_id=None
):
    epoch = node.node.broker.raft.partition.epoch if epoch is None else epoch
    id = SnapshotId(*(newest(node) if id is None else id))
    partition = FetchSnapshotRequestPartition(0, epoch, id, position)
    return FetchSnapshotRequest(cluster_id, 9, bytes_max, [FetchSnapshotRequestTopic(topic, [partition])])


def piece(node, *args, **how):
    response = node.ask(asking(node, *args, **how), conn=CONTROLLERS)
    [topic] = response.topics
    [partition] = topic.partitions
    return partition


def test_pieces_make_the_whole(node):
    path = f"/data/__cluster_metadata-0/{newest(node).file_name}"
    wanted = node.disk.read_file(path)
    found = b""
    while len(found) < len(wanted):
        said = piece(node, len(found))
        assert (said.error_code, said.size, said.position) == (0, len(wanted), len(found))
        assert 0 < len(said.unaligned_records) <= 500
        found += bytes(said.unaligned_records)

    assert found == wanted


def test_a_piece_is_no_larger_than_asked_for(node):
    assert len(piece(node, bytes_max=7).unaligned_records) == 7


def test_one_that_is_not_there_is_not_found(node):
    assert ErrorCode.of(piece(node, id=(1, 1)).error_code) is ErrorCode.SNAPSHOT_NOT_FOUND


@pytest.mark.parametrize("position", [-1, 1 << 20])
def test_there_are_no_positions_beyond_it(node, position):
    assert ErrorCode.of(piece(node, position).error_code) is ErrorCode.POSITION_OUT_OF_RANGE


@pytest.mark.parametrize(("by", "code"), [(-1, "FENCED_LEADER_EPOCH"), (1, "UNKNOWN_LEADER_EPOCH")])
def test_who_asks_the_leader_of_another_epoch_is_told_who_leads(node, by, code):
    epoch = node.node.broker.raft.partition.epoch
    said = piece(node, epoch=epoch + by)

    assert ErrorCode.of(said.error_code).name == code
    assert (said.current_leader.leader_id, said.current_leader.leader_epoch) == (1, epoch)


def test_other_topics_have_none(node):
    assert ErrorCode.of(piece(node, topic="t0").error_code) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_another_cluster_gets_nothing(node):
    response = node.ask(asking(node, cluster_id="another"), conn=CONTROLLERS)

    assert ErrorCode.of(response.error_code) is ErrorCode.INCONSISTENT_CLUSTER_ID
    assert response.topics == []


def test_it_is_for_controllers_listeners_only(node):
    with pytest.raises(Closed, match="FetchSnapshot"):
        node.ask(asking(node))


def test_a_fetch_that_the_log_does_not_reach_is_told_of_it(node):
    def fetched(replica, offset):
        wanted = FetchPartition(0, fetch_offset=offset, last_fetched_epoch=-1, partition_max_bytes=1 << 20)
        request = FetchRequest(
            replica_state=ReplicaState(replica),
            topics=[FetchTopic(topic_id=METADATA_ID, partitions=[wanted])],
        )
        return node.ask(request, conn=CONTROLLERS).responses[0].partitions[0]

    told = fetched(9, 0)
    assert (told.error_code, bytes(told.records or b"")) == (0, b"")
    assert (told.snapshot_id.end_offset, told.snapshot_id.epoch) == newest(node)
    assert ErrorCode.of(fetched(-1, 0).error_code) is ErrorCode.OFFSET_OUT_OF_RANGE, (
        "a consumer has no use for it"
    )
    assert 9 not in node.node.broker.raft.observers, "it holds nothing yet"
