"""What is refused of a transaction, and by which name: requests by hand, as no client would send them.

Two protocols live side by side. In the classic one a producer tells the coordinator of each partition before it
writes there; in transaction version 2 (Produce 12, TxnOffsetCommit 5, EndTxn 5) the broker does so, and every
transaction has an epoch of its own. So there a request that was delayed or sent twice shows an identity
that is no longer valid, and can never touch the transaction after its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from peers import transaction_frames as frames
from peers.asking import Asker
from peers.joining import joined
from peers.process import Server
from peers.raw import Raw
from peers.raw_producer import CLASSIC, IMPLICIT, RawProducer
from peers.transaction_frames import Identity

UNKNOWN_TOPIC_OR_PARTITION = 3
ILLEGAL_GENERATION = 22
INVALID_GROUP_ID = 24
UNKNOWN_MEMBER_ID = 25
INVALID_REQUEST = 42
INVALID_PRODUCER_EPOCH = 47
INVALID_TXN_STATE = 48
INVALID_PRODUCER_ID_MAPPING = 49
INVALID_TRANSACTION_TIMEOUT = 50
OPERATION_NOT_ATTEMPTED = 55
PRODUCER_FENCED = 90
TRANSACTIONAL_ID_NOT_FOUND = 105
TRANSACTION_ABORTABLE = 120

MAX_TIMEOUT_MS = 900_000  # transaction.max.timeout.ms, where nobody has set it


@pytest.fixture
def link(node: Server) -> Iterator[Raw]:
    with Raw(node.port) as link:
        yield link


@pytest.fixture
def producer(link: Raw, name: str) -> RawProducer:
    """A producer of this test's own, ready to begin."""
    producer = RawProducer(link, name)
    assert producer.open().error == 0
    return producer


@pytest.fixture
def group(producer: RawProducer, name: str) -> str:
    """A group that has a coordinator and no members."""
    producer.find(name, frames.GROUP)
    return name


def forged(identity: Identity) -> dict[str, Identity]:
    return {
        "producer id": replace(identity, producer=identity.producer + 1_000_000),
        "epoch": replace(identity, epoch=identity.epoch + 1),
        "transactional id": replace(identity, transactional_id="nobody"),
        "empty transactional id": replace(identity, transactional_id=""),
    }


COORDINATORS_ANSWER = {
    "producer id": INVALID_PRODUCER_ID_MAPPING,
    "epoch": PRODUCER_FENCED,
    "transactional id": INVALID_PRODUCER_ID_MAPPING,
    "empty transactional id": INVALID_REQUEST,
}
PARTITIONS_ANSWER = COORDINATORS_ANSWER | {"epoch": INVALID_PRODUCER_EPOCH}


@pytest.mark.parametrize("what", COORDINATORS_ANSWER)
def test_a_forged_identity_is_refused_by_the_coordinator(
    producer: RawProducer, make_topic: Callable[..., str], what: str
) -> None:
    topic = make_topic()
    who, refused = forged(producer.identity)[what], COORDINATORS_ANSWER[what]
    assert producer.add({topic: [0]}) == {topic: {0: 0}}

    assert producer.add({topic: [0]}, who) == {topic: {0: refused}}
    assert producer.add_offsets("any", who) == refused
    assert producer.end(commit=True, identity=who) == refused
    assert producer.end(commit=True, identity=who, version=5) == refused
    assert producer.end(commit=True) == 0


@pytest.mark.parametrize("version", [CLASSIC, IMPLICIT])
@pytest.mark.parametrize("what", ["producer id", "epoch", "transactional id"])
def test_a_forged_identity_writes_nothing(
    producer: RawProducer, make_topic: Callable[..., str], what: str, version: int
) -> None:
    topic = make_topic()
    who = forged(producer.identity)[what]
    producer.add({topic: [0]})

    assert producer.produce(topic, b"forged", version=version, identity=who) == PARTITIONS_ANSWER[what]
    assert producer.produce(topic, b"true", version=version) == 0


@pytest.mark.parametrize("version", [3, 5])
@pytest.mark.parametrize("what", COORDINATORS_ANSWER)
def test_a_forged_identity_commits_no_offsets(
    producer: RawProducer, group: str, make_topic: Callable[..., str], what: str, version: int
) -> None:
    topic = make_topic()
    who = forged(producer.identity)[what]
    assert producer.add_offsets(group) == 0

    refused = producer.commit_offsets(group, topic, 5, identity=who, version=version)

    assert refused == PARTITIONS_ANSWER[what]


def test_a_fenced_producer_is_told_by_everyone(
    producer: RawProducer, link: Raw, group: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    producer.add({topic: [0]})
    successor = RawProducer(link, producer.identity.transactional_id)

    assert successor.open().error == 0

    assert [producer.end(commit=True, version=version) for version in (3, 4, 5)] == [PRODUCER_FENCED] * 3
    assert producer.add({topic: [0]}) == {topic: {0: PRODUCER_FENCED}}
    assert producer.add_offsets(group) == PRODUCER_FENCED
    assert producer.produce(topic, b"late") == INVALID_PRODUCER_EPOCH
    assert producer.produce(topic, b"late", version=IMPLICIT) == INVALID_PRODUCER_EPOCH
    assert producer.commit_offsets(group, topic, 5) == INVALID_PRODUCER_EPOCH
    assert producer.commit_offsets(group, topic, 5, version=5) == INVALID_PRODUCER_EPOCH
    assert reopened(link, producer.identity, 3) == INVALID_PRODUCER_EPOCH
    assert reopened(link, producer.identity, 4) == PRODUCER_FENCED


def reopened(link: Raw, identity: Identity, version: int) -> int:
    """The error for who asks for a new epoch and shows an old one."""
    answer = link.ask(frames.init_producer_id(identity, version=version))
    return frames.read_init_producer_id(answer, version).error


@pytest.mark.parametrize("timeout_ms", [-1, 0, MAX_TIMEOUT_MS + 1])
def test_a_timeout_that_no_transaction_may_have(link: Raw, name: str, timeout_ms: int) -> None:
    assert RawProducer(link, name).open(timeout_ms).error == INVALID_TRANSACTION_TIMEOUT
    assert RawProducer(link, name).open(MAX_TIMEOUT_MS).error == 0


@pytest.mark.parametrize("identity", [Identity(""), Identity("half", 5, -1), Identity("half", -1, 5)])
def test_an_identity_that_cannot_be(link: Raw, producer: RawProducer, identity: Identity) -> None:
    assert reopened(link, identity, 4) == INVALID_REQUEST


def test_a_transaction_that_has_not_begun_does_not_end(producer: RawProducer) -> None:
    before = producer.identity

    assert producer.end(commit=True) == INVALID_TXN_STATE
    assert producer.end(commit=False) == INVALID_TXN_STATE
    assert producer.end(commit=True, version=5) == INVALID_TXN_STATE
    assert producer.end(commit=False, version=5) == 0, (
        "version 2 lets a producer abort what may never have begun"
    )
    assert producer.identity.epoch == before.epoch + 1


def test_what_has_ended_may_be_ended_again_the_same_way_only(
    producer: RawProducer, make_topic: Callable[..., str]
) -> None:
    producer.add({make_topic(): [0]})

    assert producer.end(commit=True) == 0
    assert producer.end(commit=True) == 0
    assert producer.end(commit=False) == INVALID_TXN_STATE


def test_partitions_are_added_all_or_none(
    producer: RawProducer, make_topic: Callable[..., str], name: str
) -> None:
    topic = make_topic(partitions=2)

    answer = producer.add({topic: [0, 7], "no-such-topic": [0]})

    assert answer == {
        topic: {0: OPERATION_NOT_ATTEMPTED, 7: UNKNOWN_TOPIC_OR_PARTITION},
        "no-such-topic": {0: UNKNOWN_TOPIC_OR_PARTITION},
    }
    assert producer.end(commit=True) == INVALID_TXN_STATE


def test_a_partition_that_was_not_added_is_not_written_to(
    producer: RawProducer, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(partitions=2)
    producer.add({topic: [0]})

    assert producer.produce(topic, b"in") == 0
    assert producer.produce(topic, b"out", partition=1) == TRANSACTION_ABORTABLE
    assert producer.produce(topic, b"out", partition=1, version=9) == INVALID_TXN_STATE
    assert producer.produce(topic, b"in", partition=1, version=IMPLICIT) == 0


def test_a_plain_batch_has_no_place_in_an_open_transaction(
    producer: RawProducer, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    producer.add({topic: [0]})
    producer.produce(topic, b"in")

    assert producer.produce(topic, b"plain", transactional=False) == INVALID_TXN_STATE


def test_offsets_are_committed_by_a_group_that_was_added(
    producer: RawProducer, group: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()

    assert producer.commit_offsets(group, topic, 5) == INVALID_TXN_STATE
    assert producer.add_offsets(group) == 0
    assert producer.commit_offsets(group, topic, 5) == 0
    assert producer.commit_offsets(group, "no-such-topic", 5) == UNKNOWN_TOPIC_OR_PARTITION
    assert producer.commit_offsets("", topic, 5) == INVALID_GROUP_ID


@pytest.mark.parametrize("version", [3, 5])
def test_offsets_of_a_stranger_are_refused(
    asker: Asker, producer: RawProducer, group: str, make_topic: Callable[..., str], version: int
) -> None:
    topic = make_topic()
    me = joined(asker, group)
    producer.add_offsets(group)

    def commit(generation: int, member: str) -> int:
        return producer.commit_offsets(group, topic, 5, version=version, generation=generation, member=member)

    assert commit(me.generation_id + 1, me.member_id) == ILLEGAL_GENERATION
    assert commit(me.generation_id, "somebody") == UNKNOWN_MEMBER_ID
    assert commit(me.generation_id, me.member_id) == 0


def test_a_retried_end_is_answered_as_before(producer: RawProducer, make_topic: Callable[..., str]) -> None:
    topic = make_topic()
    producer.produce(topic, b"one", version=IMPLICIT)
    ended = producer.identity
    assert producer.end(commit=True, version=5) == 0

    again = producer.end_implicit(ended, commit=True)

    assert again == (0, producer.identity.producer, producer.identity.epoch)
    assert producer.end(commit=False, version=5, identity=ended) == INVALID_TXN_STATE


def test_a_delayed_request_does_not_touch_the_next_transaction(
    producer: RawProducer, link: Raw, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(partitions=2)
    producer.produce(topic, b"one", version=IMPLICIT)
    before = producer.identity
    producer.end(commit=True, version=5)
    assert producer.produce(topic, b"two", version=IMPLICIT) == 0

    assert producer.end(commit=True, version=5, identity=before) == PRODUCER_FENCED
    assert producer.end(commit=False, version=5, identity=before) == PRODUCER_FENCED
    for partition in (0, 1):
        late = producer.produce(topic, b"late", partition=partition, version=IMPLICIT, identity=before)
        assert late == INVALID_PRODUCER_EPOCH
    assert described(link, producer) == (0, "Ongoing")
    assert producer.end(commit=True, version=5) == 0


def test_a_transactional_id_that_nobody_holds(producer: RawProducer, link: Raw) -> None:
    stranger = frames.read_described(link.ask(frames.describe_transaction("nobody")))

    assert stranger[0] == TRANSACTIONAL_ID_NOT_FOUND
    assert described(link, producer) == (0, "Empty")


def described(link: Raw, producer: RawProducer) -> tuple[int, str]:
    asked = frames.describe_transaction(producer.identity.transactional_id)
    return frames.read_described(link.ask(asked))
