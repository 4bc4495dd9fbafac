"""Epochs that nobody has: the largest there are, and negative ones, wherever a request can name one.

Each is refused with Kafka's error, and nothing of it is left: whoever was there goes on, and does so after a restart.
Where Kafka takes them (a stranger's batch or marker in a producer's name), it is said what comes of it.
"""

from __future__ import annotations

import pytest

from andiron.model.ids import NO_TOPIC_ID
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from andiron.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionRequestTopic,
    BrokerState,
)
from andiron.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from andiron.wire.messages.sync_group import SyncGroupRequest
from worlds.controllers import Doors, three
from worlds.coordinating import (
    TX,
    Producer,
    add_offsets_request,
    add_request,
    begun,
    commit,
    committed,
    consumer_heartbeat,
    coordinating,
    end,
    end_request,
    in_transaction,
    joined,
    marker_request,
    offset_fetch_request,
    recover,
    stable_end,
    transaction,
    txn_commit,
    write,
)
from worlds.node import error_of

__all__ = ["three"]

INT, SHORT, LONG = 2**31 - 1, 2**15 - 1, 2**63 - 1


@pytest.fixture
def node():
    return coordinating()


# ── leader epochs ────────────────────────────────────────────────────────────────────

LEADER_EPOCHS = {
    INT: "UNKNOWN_LEADER_EPOCH",
    1: "UNKNOWN_LEADER_EPOCH",
    -1: "NONE",
    -2: "FENCED_LEADER_EPOCH",
    -INT - 1: "FENCED_LEADER_EPOCH",
}


def fetched(node, wanted):
    topics = [FetchTopic("t", partitions=[wanted])]
    return (
        node.ask(FetchRequest(max_bytes=1_000, session_epoch=-1, topics=topics), 12)
        .responses[0]
        .partitions[0]
    )


@pytest.mark.parametrize(("epoch", "error"), LEADER_EPOCHS.items())
def test_a_leader_epoch_that_is_not_this_ones(node, epoch, error):
    node.produce("t", b"a")
    listed = node.ask(
        ListOffsetsRequest(topics=[ListOffsetsTopic("t", [ListOffsetsPartition(0, epoch, -1)])])
    )
    wanted = OffsetForLeaderPartition(0, epoch, 0)
    ended = node.ask(OffsetForLeaderEpochRequest(-1, [OffsetForLeaderTopic("t", [wanted])]))

    asked = FetchPartition(0, epoch, 0, partition_max_bytes=1_000)
    found = fetched(node, asked), listed.topics[0].partitions[0], ended.topics[0].partitions[0]
    assert [error_of(each) for each in found] == [error] * 3


@pytest.mark.parametrize("epoch", [INT, 1, -2, -INT - 1])
def test_where_an_epoch_ended_that_never_was(node, epoch):
    wanted = OffsetForLeaderPartition(0, -1, epoch)
    [answer] = (
        node.ask(OffsetForLeaderEpochRequest(-1, [OffsetForLeaderTopic("t", [wanted])])).topics[0].partitions
    )

    assert (error_of(answer), answer.leader_epoch, answer.end_offset) == ("NONE", -1, -1)


def test_who_has_records_of_an_epoch_that_never_was_cannot_go_on_from_them(node):
    asked = FetchPartition(0, -1, 0, last_fetched_epoch=INT, partition_max_bytes=1_000)

    assert error_of(fetched(node, asked)) == "OFFSET_OUT_OF_RANGE"


@pytest.mark.parametrize("epoch", [INT, 5, -1, -2, -INT - 1])
def test_the_leader_epoch_of_a_commit_is_kept_as_it_came(node, epoch):
    partition = OffsetCommitRequestPartition(0, 7, epoch, "")
    request = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", NO_TOPIC_ID, [partition])])
    assert error_of(node.ask(request, 9).topics[0].partitions[0]) == "NONE"
    recover(node)

    [found] = node.ask(offset_fetch_request(node), 9).groups[0].topics[0].partitions
    assert (found.committed_offset, found.committed_leader_epoch) == (7, epoch)


@pytest.mark.parametrize("epoch", [INT, 2, -2, -INT - 1])
def test_the_epoch_of_a_session(node, epoch):
    asked = [FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1_000)])]
    session = node.ask(FetchRequest(max_bytes=1_000, session_epoch=0, topics=asked), 12).session_id

    wrong = node.ask(FetchRequest(session_id=session, session_epoch=epoch), 12)
    assert error_of(wrong) == "INVALID_FETCH_SESSION_EPOCH"
    assert error_of(node.ask(FetchRequest(session_id=session, session_epoch=1), 12)) == "NONE"


# ── generations, and epochs of members ───────────────────────────────────────────────


@pytest.mark.parametrize("generation", [INT, 2, 0, -2, -INT - 1])
def test_a_generation_that_is_not_the_groups(node, generation):
    member = joined(node)

    beat = node.ask(HeartbeatRequest("g", generation, member.id))
    synced = node.ask(
        SyncGroupRequest("g", generation, member.id, protocol_type="consumer", protocol_name="range"), 3
    )
    assert (error_of(beat), error_of(synced)) == ("ILLEGAL_GENERATION", "ILLEGAL_GENERATION")
    assert commit(node, 5, member=(member.id, generation)) == "ILLEGAL_GENERATION"
    recover(node)
    assert commit(node, 6, member=member) == "NONE"
    assert error_of(node.ask(HeartbeatRequest("g", member.generation, member.id))) == "NONE"


MEMBER_EPOCHS = {
    INT: "FENCED_MEMBER_EPOCH",
    9: "FENCED_MEMBER_EPOCH",
    -3: "INVALID_REQUEST",
    -INT - 1: "INVALID_REQUEST",
}


@pytest.mark.parametrize(("epoch", "error"), MEMBER_EPOCHS.items())
def test_an_epoch_that_is_not_the_members(node, epoch, error):
    at = node.ask(consumer_heartbeat(), 1).member_epoch

    assert error_of(node.ask(consumer_heartbeat(epoch=epoch), 1)) == error
    assert commit(node, 5, member=("m", epoch)) == "STALE_MEMBER_EPOCH"
    recover(node)
    assert error_of(node.ask(consumer_heartbeat(epoch=at), 1)) == "NONE"
    assert commit(node, 6, member=("m", at)) == "NONE"


# ── epochs of producers ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("epoch", [SHORT, 1, -1, -SHORT - 1])
def test_an_epoch_that_is_not_the_producers(node, epoch):
    producer = in_transaction(node)
    wrong = Producer(producer.id, epoch)

    errors = [
        error_of(node.ask(InitProducerIdRequest(TX, 60_000, *wrong), 5)),
        error_of(node.ask(end_request(wrong), 5)),
        error_of(node.ask(add_offsets_request(wrong), 4)),
        error_of(write(node, wrong, b"x", partition=1)),
        txn_commit(node, wrong),
    ]
    assert "NONE" not in errors
    assert transaction(node).transaction_state == "Ongoing"
    recover(node)
    end(node, producer)
    assert stable_end(node) == 2


@pytest.mark.parametrize("held", [(7, SHORT), (LONG, 0), (LONG, SHORT)])
def test_who_names_an_identity_for_an_id_that_nobody_has_gets_one_of_its_own(node, held):
    producer = begun(node, held=held)

    assert producer == Producer(producer.id, 0)
    assert producer.id not in (7, LONG)


def test_a_producer_whose_epochs_are_used_up_goes_on_under_another_id(node):
    """As in Kafka: an idempotent producer may come with any epoch, and it counts where it wrote."""

    def written(id, epoch, sequence):
        answer = node.produce("t", b"a", producer_id=id, producer_epoch=epoch, base_sequence=sequence)
        return error_of(answer)

    assert written(99, SHORT, 0) == "NONE"
    recover(node)

    assert written(99, SHORT, 1) == "NONE"
    assert written(99, 0, 2) == "INVALID_PRODUCER_EPOCH"
    assert written(100, 0, 0) == "NONE"


# ── epochs of coordinators ───────────────────────────────────────────────────────────


def marked(node, producer, **how):
    return error_of(node.ask(marker_request(producer, **how)).markers[0].topics[0].partitions[0])


@pytest.mark.parametrize("epoch", [INT, 1])
def test_a_marker_from_a_coordinator_that_there_cannot_be_shuts_nobody_out(node, epoch):
    producer = begun(node)

    assert marked(node, producer, committed=False, coordinator_epoch=epoch) == "UNKNOWN_LEADER_EPOCH"
    assert error_of(write(node, producer, b"a")) == "NONE"
    end(node, producer)

    assert stable_end(node) == node.partition("t").log.end == 2, "the coordinator's own marker was taken"


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_hanging_transaction_can_be_ended_by_an_administrator(node, epoch):
    producer = in_transaction(node)

    assert marked(node, producer, committed=False, coordinator_epoch=epoch) == "NONE"
    assert stable_end(node) == 2
    recover(node)
    assert stable_end(node) == 2


def test_a_coordinator_that_has_just_moved_is_heard_once_that_is_known_here(node):
    """Its epoch is that of its partition, which rises with every move."""
    node.ask(add_request(begun(node)), 3)
    shard = node.node.broker.transactions.shards
    partition = next(iter(shard)).partition
    image = node.node.broker.image.topics[partition.name.topic].partitions
    known = image[partition.name.partition]
    image[partition.name.partition] = known._replace(leader_epoch=8)

    assert marked(node, Producer(99, 0), coordinator_epoch=9) == "UNKNOWN_LEADER_EPOCH"
    assert marked(node, Producer(99, 0), coordinator_epoch=8) == "NONE"


# ── epochs of brokers and controllers ────────────────────────────────────────────────


def altering(three: Doors, *, broker_epoch, leader_epoch=0, partition_epoch=0):
    state = BrokerState(1, three.epoch_of(1))
    part = AlterPartitionRequestPartition(0, leader_epoch, [], [state], 0, partition_epoch)
    return AlterPartitionRequest(1, broker_epoch, [AlterPartitionRequestTopic(three.topic_id, [part])])


@pytest.mark.parametrize("epoch", [LONG, -1, -LONG - 1])
def test_a_broker_epoch_that_is_not_the_brokers(three, epoch):
    asked = [
        BrokerHeartbeatRequest(1, epoch, 0, want_fence=True),
        altering(three, broker_epoch=epoch),
        AllocateProducerIdsRequest(1, epoch),
        AssignReplicasToDirsRequest(1, epoch),
    ]

    assert [three.error(three.leader, request) for request in asked] == ["STALE_BROKER_EPOCH"] * 4
    assert not three.cluster.broker(three.leader).image.brokers[1].fenced


@pytest.mark.parametrize(
    ("epochs", "error"),
    [
        ({"leader_epoch": INT}, "NOT_CONTROLLER"),
        ({"partition_epoch": INT}, "NOT_CONTROLLER"),
        ({"leader_epoch": -1}, "FENCED_LEADER_EPOCH"),
        ({"partition_epoch": -1}, "INVALID_UPDATE_VERSION"),
    ],
    ids=str,
)
def test_epochs_of_a_partition_that_the_controller_does_not_know(three, epochs, error):
    before = three.cluster.broker(three.leader).image.topics["t"].partitions[0]

    answer = three.ask(three.leader, altering(three, broker_epoch=three.epoch_of(1), **epochs))

    assert error_of(answer.topics[0].partitions[0]) == error
    assert three.cluster.broker(three.leader).image.topics["t"].partitions[0] == before


def test_nothing_of_it_is_left_for_those_who_go_on(node):
    member = joined(node)
    producer = in_transaction(node)
    for epoch in (SHORT, -SHORT - 1):
        write(node, Producer(producer.id, epoch), b"x", partition=2)
        commit(node, 9, member=(member.id, epoch))
        node.ask(end_request(Producer(producer.id, epoch)), 5)
    recover(node)

    end(node, producer)
    assert commit(node, 5, member=member) == "NONE"
    assert committed(node) == 5
