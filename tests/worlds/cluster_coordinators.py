"""What producers of transactions and members of groups say to the coordinators of a small cluster."""

from typing import NamedTuple

from andiron.wire.messages.end_txn import EndTxnRequest
from andiron.wire.messages.find_coordinator import FindCoordinatorRequest
from andiron.wire.messages.init_producer_id import InitProducerIdRequest
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from worlds.cluster_client import produce, some_broker
from worlds.node import error_of

GROUP, TRANSACTION = 0, 1
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"


class Producer(NamedTuple):
    """The holder of a transactional id."""

    id: int
    epoch: int
    name: str


def coordinator_of(cluster, kind, key, node=None):
    """The node that keeps a group or a transactional id, once there is one."""
    found = []

    def ask():
        answer = cluster.answer(
            node or some_broker(cluster), FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        )
        found[:] = answer.coordinators
        return found[0].error_code == 0

    cluster.until(ask)
    return found[0].node_id


def patiently(cluster, kind, key, request, version=None, code=lambda answer: answer.error_code):
    """The answer of a coordinator that is there, however often it has to be looked for."""
    later = (
        "NOT_COORDINATOR",
        "COORDINATOR_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "CONCURRENT_TRANSACTIONS",
    )
    for _ in range(100):
        answer = cluster.answer(coordinator_of(cluster, kind, key), request, version)
        if answer is None or error_of(_Code(code(answer))) in later:
            cluster.pass_time(100)
            continue
        return answer
    raise AssertionError(f"nobody answers: {answer}")


class _Code(NamedTuple):
    error_code: int


# ── transactions ─────────────────────────────────────────────────────────────────────


def begin(cluster, name="tx", timeout_ms=60_000):
    """InitProducerId."""
    answer = patiently(cluster, TRANSACTION, name, InitProducerIdRequest(name, timeout_ms))
    assert answer.error_code == 0, error_of(answer)
    return Producer(answer.producer_id, answer.producer_epoch, name)


def write_in(cluster, producer, topic, *values, sequence=0, partition=0, **how):
    """A batch of a transaction, whose coordinator may be on another node; the partition's answer."""
    for _ in range(50):
        answer = produce(
            cluster, topic, *values, partition=partition, transaction=producer.name, transactional=True,
            producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=sequence, **how,
        )  # fmt: skip
        if error_of(answer) not in (
            "NOT_ENOUGH_REPLICAS",
            "CONCURRENT_TRANSACTIONS",
            "COORDINATOR_NOT_AVAILABLE",
        ):
            return answer
        cluster.pass_time(100)
    return answer


def end(cluster, producer, *, committed, name=None):
    """Commit or abort; the producer as it goes on."""
    request = EndTxnRequest(producer.name, producer.id, producer.epoch, committed)
    answer = patiently(cluster, TRANSACTION, producer.name, request)
    assert answer.error_code == 0, error_of(answer)
    return Producer(answer.producer_id, answer.producer_epoch, producer.name)


def commit_offset_in(cluster, producer, group, topic, offset):
    part = TxnOffsetCommitRequestPartition(0, offset, committed_metadata="")
    request = TxnOffsetCommitRequest(
        producer.name, group, producer.id, producer.epoch, topics=[TxnOffsetCommitRequestTopic(topic, [part])]
    )
    answer = patiently(
        cluster, GROUP, group, request, code=lambda answer: answer.topics[0].partitions[0].error_code
    )
    return error_of(answer.topics[0].partitions[0])


# ── groups ───────────────────────────────────────────────────────────────────────────


def commit_offset(cluster, group, topic, offset):
    part = OffsetCommitRequestPartition(0, offset, committed_metadata="")
    topics = [OffsetCommitRequestTopic("", cluster.image.topics[topic].id, [part])]
    answer = patiently(
        cluster, GROUP, group, OffsetCommitRequest(group, topics=topics),
        code=lambda answer: answer.topics[0].partitions[0].error_code,
    )  # fmt: skip
    return error_of(answer.topics[0].partitions[0])


def committed_offset(cluster, group, topic, stable=False):
    topics = [OffsetFetchRequestTopics("", cluster.image.topics[topic].id, [0])]
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group, topics=topics)], require_stable=stable
    )
    answer = patiently(cluster, GROUP, group, request, code=lambda answer: answer.groups[0].error_code)
    return answer.groups[0].topics[0].partitions[0].committed_offset
