"""A node that coordinates groups and transactions, and what their members and producers say to it.

    node = coordinating()                      topic t of three partitions, both internal topics
    member = joined(node)                      alone in group g, with its assignment
    producer = begun(node)                     the holder of transactional id tx
    producer = in_transaction(node)            the same, with a batch in t-0 and nothing decided

Requests are made for any version: what a version does not have is left out when they are encoded.
"""

from typing import NamedTuple

import pytest

from andiron.broker.coordinators.coordinator import partition_of
from andiron.broker.coordinators.internal_topics import ADMIN_CLIENT_ID
from andiron.model.errors import ErrorCode
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from andiron.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from andiron.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from andiron.wire.messages.describe_transactions import DescribeTransactionsRequest
from andiron.wire.messages.end_txn import EndTxnRequest
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.heartbeat import HeartbeatRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from andiron.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from andiron.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from worlds.node import SmallNode, error_of

GROUP, TX, TOPIC = "g", "tx", "t"
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
SESSION_MS, REBALANCE_MS = 10_000, 60_000
SHARDS = 3
DURABLY = {"log_flush_interval_messages": "1"}  # answers wait for an fsync


def every_version(handler, since=None, until=None):
    """A test for each version that a handler serves."""
    first, last = handler.SERVED
    first, last = first if since is None else since, last if until is None else until
    return pytest.mark.parametrize("version", range(first, last + 1))


def coordinating(**properties):
    """A node with a topic, on which everybody finds a coordinator."""
    few = {"offsets_topic_num_partitions": str(SHARDS), "transaction_state_log_num_partitions": str(SHARDS)}
    node = SmallNode(**{"group_initial_rebalance_delay_ms": "0", **few, **properties})
    node.create(TOPIC, 3)
    for kind in (0, 1):
        node.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=[GROUP]))
    return node


def crash(node):
    """The process dies and begins again; what its coordinators know is not loaded yet."""
    node.restart(clean=False)


def recover(node):
    """The same, and everything is loaded."""
    crash(node)
    node.settle()


def loading(node):
    """A node that has begun again, and has still to load what it knows of group g and transactional id tx."""
    assert commit(node, 5) == "NONE"
    begun(node)
    crash(node)
    return node


def shard_of(name):
    """The partition of an internal topic that a name is kept in."""
    return partition_of(name, SHARDS)


def write_nonsense(node, topic, name):
    """A record that makes no sense, in the partition of a name: an administrator has mended too much."""
    records = build([Record(0, node.now, b"\x00\x63what", b"ever"), Record(1, node.now, b"", b"")])
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(shard_of(name), records)])
    request = ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[data])
    answer = node.ask(request, 9, client_id=ADMIN_CLIENT_ID)
    assert error_of(answer.responses[0].partition_responses[0]) == "NONE"


def names_of(errors):
    """Numbers of errors as their names."""
    return [ErrorCode.of(number).name for number in errors]


# ── classic groups ───────────────────────────────────────────────────────────────────


class Member(NamedTuple):
    """A member of a classic group, in a generation of it."""

    id: str
    generation: int


def join_request(
    member_id="", group=GROUP, instance=None, protocol_type="consumer", metadata=b"", session_ms=SESSION_MS
):
    offered = [JoinGroupRequestProtocol("range", metadata)]
    return JoinGroupRequest(
        group, session_ms, REBALANCE_MS, member_id, instance, protocol_type, offered, reason="why not"
    )


def sync_request(member, assignments=None, group=GROUP, instance=None, protocol_type="consumer"):
    given = [SyncGroupRequestAssignment(*each) for each in (assignments or {}).items()]
    return SyncGroupRequest(group, member.generation, member.id, instance, protocol_type, "range", given)


def heartbeat_request(member, group=GROUP, instance=None):
    return HeartbeatRequest(group, member.generation, member.id, instance)


def send_join(node, version=9, **how):
    """A newcomer asks to join, with the id that it is given on the way; the ticket of what it waits for."""
    ticket = node.send(join_request(**how), version)
    answer = node.answer(ticket)
    if answer is not None and error_of(answer) == "MEMBER_ID_REQUIRED":
        ticket = node.send(join_request(answer.member_id, **how), version)
    return ticket


def joined(node, version=9, assignment=b"all of it", **how):
    """A newcomer alone in its group, which has assigned to itself."""
    ticket = send_join(node, version, **how)
    node.settle()
    answer = node.answer(ticket)
    assert error_of(answer) == "NONE" and answer.leader == answer.member_id
    member = Member(answer.member_id, answer.generation_id)
    same = {name: how[name] for name in ("group", "instance", "protocol_type") if name in how}
    assert error_of(node.ask(sync_request(member, {member.id: assignment}, **same))) == "NONE"
    return member


# ── consumer groups ──────────────────────────────────────────────────────────────────


def consumer_heartbeat(member_id="m", epoch=0, group=GROUP, topics=(TOPIC,)):
    """Of a member that is assigned to by the broker: its first, with all that it is."""
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        rebalance_timeout_ms=REBALANCE_MS,
        subscribed_topic_names=list(topics),
        topic_partitions=[],
    )


# ── offsets ──────────────────────────────────────────────────────────────────────────


def topic_id(node, topic=TOPIC):
    return node.node.broker.image.topics[topic].id


def commit_request(node, offset, partition=0, topic=TOPIC, group=GROUP, member=("", -1), metadata="note"):
    wanted = [OffsetCommitRequestPartition(partition, offset, committed_metadata=metadata)]
    named = OffsetCommitRequestTopic(topic, topic_id(node, topic), wanted)
    return OffsetCommitRequest(group, member[1], member[0], topics=[named])


def commit(node, offset, version=9, **how):
    """Commit an offset; the error's name."""
    answer = node.ask(commit_request(node, offset, **how), version)
    return error_of(answer.topics[0].partitions[0])


def offset_fetch_request(node, group=GROUP, topic=TOPIC, partitions=(0,), stable=False):
    older = [OffsetFetchRequestTopic(topic, list(partitions))]
    newer = [OffsetFetchRequestTopics(topic, topic_id(node, topic), list(partitions))]
    return OffsetFetchRequest(group, older, [OffsetFetchRequestGroup(group, topics=newer)], stable)


def committed(node, group=GROUP, topic=TOPIC, partition=0, stable=False):
    """The offset that a group has committed for a partition; the error's name if there is one."""
    answer = node.ask(offset_fetch_request(node, group, topic, [partition], stable), 9).groups[0]
    if answer.error_code:
        return error_of(answer)
    [found] = answer.topics[0].partitions
    return error_of(found) if found.error_code else found.committed_offset


# ── transactions ─────────────────────────────────────────────────────────────────────


class Producer(NamedTuple):
    """Who writes under a transactional id."""

    id: int
    epoch: int


def begun(node, tx=TX, timeout_ms=60_000, held=(-1, -1)):
    """The holder of a transactional id, from now on."""
    answer = node.ask(InitProducerIdRequest(tx, timeout_ms, *held), 5)
    assert error_of(answer) == "NONE"
    return Producer(answer.producer_id, answer.producer_epoch)


def add_request(producer, *partitions, tx=TX, verify_only=False):
    """AddPartitionsToTxn, in the form of old and of new versions."""
    topics = [AddPartitionsToTxnTopic(topic, [index]) for topic, index in partitions or [(TOPIC, 0)]]
    several = [AddPartitionsToTxnTransaction(tx, *producer, verify_only, topics)]
    return AddPartitionsToTxnRequest(several, tx, *producer, topics)


def add_offsets_request(producer, tx=TX, group=GROUP):
    return AddOffsetsToTxnRequest(tx, *producer, group)


def write_request(node, producer, *values, tx=TX, topic=TOPIC, partition=0, sequence=0, **how):
    """Produce of a batch in a transaction."""
    records = build(
        [Record(0, node.now, b"k", value) for value in values or (b"v",)],
        producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=sequence, transactional=True,
    )  # fmt: skip
    data = TopicProduceData(topic, topic_id(node, topic), [PartitionProduceData(partition, records)])
    return ProduceRequest(tx, how.get("acks", -1), 1_000, [data])


def write(node, producer, *values, version=12, **how):
    """Write a batch in a transaction; what its partition answers."""
    answer = node.ask(write_request(node, producer, *values, **how), version)
    return answer.responses[0].partition_responses[0]


def txn_commit_request(producer, offset=5, tx=TX, group=GROUP, topic=TOPIC, partition=0, member=("", -1)):
    wanted = [TxnOffsetCommitRequestPartition(partition, offset, committed_metadata="")]
    named = [TxnOffsetCommitRequestTopic(topic, wanted)]
    return TxnOffsetCommitRequest(tx, group, *producer, member[1], member[0], None, named)


def txn_commit(node, producer, offset=5, version=5, **how):
    """Commit an offset in a transaction; the error's name."""
    answer = node.ask(txn_commit_request(producer, offset, **how), version)
    return error_of(answer.topics[0].partitions[0])


def end_request(producer, committed=True, tx=TX):
    return EndTxnRequest(tx, *producer, committed)


def end(node, producer, committed=True, version=5, tx=TX):
    """End a transaction; who its producer is after that."""
    answer = node.ask(end_request(producer, committed, tx), version)
    assert error_of(answer) == "NONE"
    return Producer(answer.producer_id, answer.producer_epoch) if version >= 5 else producer


def marker_request(producer, *partitions, committed=True, coordinator_epoch=0, version=0):
    """WriteTxnMarkers of one marker, for t-0 if not told otherwise."""
    topics = [WritableTxnMarkerTopic(topic, [index]) for topic, index in partitions or [(TOPIC, 0)]]
    marker = WritableTxnMarker(*producer, committed, topics, coordinator_epoch, version)
    return WriteTxnMarkersRequest([marker])


def in_transaction(node, *values, tx=TX, topic=TOPIC, partition=0):
    """A producer that has written in a transaction and has not ended it."""
    producer = begun(node, tx)
    assert error_of(write(node, producer, *values, tx=tx, topic=topic, partition=partition)) == "NONE"
    return producer


def transaction(node, tx=TX):
    """How a transaction stands."""
    return node.ask(DescribeTransactionsRequest([tx])).transaction_states[0]


def stable_end(node, topic=TOPIC, partition=0):
    """Up to where read_committed readers see a partition."""
    return node.partition(topic, partition).readable_end(True)
