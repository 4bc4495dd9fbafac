"""A transaction's first write: what its coordinator is asked, and what its producer hears."""

import pytest

from andiron.broker.coordinators.transaction_admission import Admission, Writer, are_transactional, ask
from andiron.broker.replicas.verification_guards import VerificationGuards
from andiron.model.effects import Received
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.messages.produce import PartitionProduceData
from worlds.coordinating import (
    DURABLY,
    TOPIC,
    TRANSACTIONS,
    TX,
    Producer,
    add_request,
    begun,
    coordinating,
    end,
    end_request,
    in_transaction,
    marker_request,
    shard_of,
    stable_end,
    transaction,
    write,
    write_request,
)
from worlds.node import error_of

FIRST = TopicPartition(TOPIC, 0)
OLD, TELLS_TO_ABORT, ADDS = 10, 11, 12  # versions of Produce


def batch(sequence=0, **how):
    how = {"producer_id": 7, "producer_epoch": 0, "transactional": True} | how
    return build([Record(0, 0, b"k", b"v")], base_sequence=sequence, **how)


@pytest.fixture
def node():
    return coordinating()


# ── one byte of a batch ──────────────────────────────────────────────────────────────


def test_a_batch_says_whether_it_is_part_of_a_transaction():
    assert are_transactional(batch())
    assert are_transactional(memoryview(batch(codec=1)))
    assert not are_transactional(batch(transactional=False))


@pytest.mark.parametrize("records", [None, b"", bytes(22)])
def test_what_is_no_batch_is_not_part_of_one(records):
    assert not are_transactional(records)


# ── the question ─────────────────────────────────────────────────────────────────────


def word(node, producer, *, adds=False, abortable=False, tx=TX):
    """What the coordinator says to a producer that wants to write to t-0."""
    broker = node.node.broker
    wait = ask(broker, Writer(tx, *producer), (FIRST,), adds=adds, abortable=abortable, now=node.now)
    assert wait.until()
    return wait.then()[FIRST]


def test_a_partition_that_was_added_before_is_part_of_the_transaction(node):
    producer = begun(node)
    assert word(node, producer) is ErrorCode.INVALID_TXN_STATE
    assert word(node, producer, abortable=True) is ErrorCode.TRANSACTION_ABORTABLE

    node.ask(add_request(producer), 3)

    assert word(node, producer) is ErrorCode.NONE


def test_to_write_may_be_to_add(node):
    producer = begun(node)

    assert word(node, producer, adds=True) is ErrorCode.NONE

    assert transaction(node).topics[0].partitions == [0]


@pytest.mark.parametrize("adds", [True, False])
def test_whoever_has_been_fenced_hears_of_its_epoch_and_strangers_of_their_id(node, adds):
    old, new = begun(node), begun(node)

    assert word(node, old, adds=adds) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert word(node, Producer(new.id + 5, 0), adds=adds) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert word(node, new, adds=adds, tx="other") is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_nobody_is_asked_where_verification_is_turned_off_but_who_adds_still_does(node):
    node.alter_broker("1", transaction_partition_verification_enable="false")

    assert word(node, Producer(99, 0)) is ErrorCode.NONE
    assert word(node, Producer(99, 0), adds=True) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


# ── the answer ───────────────────────────────────────────────────────────────────────

UNTOLD = [
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
]


def told(code, *, adds):
    guards = VerificationGuards()
    admission = Admission(guards, Batch(batch()), adds=adds, now=0)
    admission.answered(code)
    try:
        admission.guard()
    except ProtocolError as error:
        return error.code, len(guards)
    return None, len(guards)


@pytest.mark.parametrize("adds", [True, False])
def test_a_yes_lets_the_batch_in_with_its_guard(adds):
    assert told(ErrorCode.NONE, adds=adds) == (None, 1)


@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("code", UNTOLD)
def test_what_will_pass_is_told_in_words_that_make_any_producer_try_again(code, adds):
    """The question stays open: the lowest sequence that was seen is not forgotten."""
    assert told(code, adds=adds) == (ErrorCode.NOT_ENOUGH_REPLICAS, 1)


def test_that_the_last_transaction_is_still_ending_is_told_to_those_who_understand_it():
    code = ErrorCode.CONCURRENT_TRANSACTIONS

    assert told(code, adds=False) == (ErrorCode.NOT_ENOUGH_REPLICAS, 1)
    assert told(code, adds=True) == (code, 1)


@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("code", [ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_a_no_is_told_as_it_is_and_settles_the_question(code, adds):
    assert told(code, adds=adds) == (code, 0)


# ── batches that begin a transaction ─────────────────────────────────────────────────


def test_the_coordinator_is_asked_once_for_all_partitions_of_a_request(node):
    producer = begun(node)
    log = node.log(TRANSACTIONS, shard_of(TX))
    before = log.end
    request = write_request(node, producer)
    request.topic_data[0].partition_data.append(
        PartitionProduceData(2, batch(producer_id=producer.id, producer_epoch=producer.epoch))
    )

    answers = node.ask(request, ADDS).responses[0].partition_responses

    assert [error_of(answer) for answer in answers] == ["NONE", "NONE"]
    assert transaction(node).topics[0].partitions == [0, 2]
    assert log.end == before + 1


def test_what_is_wrong_with_one_batch_shows_when_the_others_are_written(node):
    producer = begun(node)
    request = write_request(node, producer)
    request.topic_data[0].partition_data += [
        PartitionProduceData(1, b"nonsense"),
        PartitionProduceData(2, None),
        PartitionProduceData(9, batch()),
    ]

    answers = node.ask(request, ADDS).responses[0].partition_responses

    assert [error_of(answer) for answer in answers] == [
        "NONE", "CORRUPT_MESSAGE", "INVALID_RECORD", "UNKNOWN_TOPIC_OR_PARTITION",
    ]  # fmt: skip


def test_the_records_of_a_request_that_waits_outlive_the_buffer_they_came_in():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    request = write_request(node, producer, b"precious")
    frame = bytearray(encode_request_header(0, ADDS, 9_000, "test") + encode_message(request, ADDS))
    node.step(Received(1, 9_000, memoryview(frame)))
    assert 9_000 not in node.replies

    frame[:] = bytes(len(frame))  # the next request is received
    node.do_flushes()

    assert 9_000 in node.replies
    assert node.values(TOPIC) == [b"precious"]


def test_batches_that_follow_while_the_question_is_out_are_written_in_turn():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    tickets = [
        node.send(write_request(node, producer, b"%d" % number, sequence=number), ADDS) for number in range(3)
    ]

    node.do_flushes()

    answers = [node.answer(ticket).responses[0].partition_responses[0] for ticket in tickets]
    assert [(error_of(answer), answer.base_offset) for answer in answers] == [
        ("NONE", 0), ("NONE", 1), ("NONE", 2),
    ]  # fmt: skip


def test_a_batch_whose_transaction_is_ended_while_the_question_is_out_is_refused():
    """The coordinator's yes is on its way to the disk when an administrator ends the transaction."""
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    late = node.send(write_request(node, producer, b"late"), ADDS)
    node.send(marker_request(producer, committed=False))

    node.do_flushes()

    answer = node.answer(late).responses[0].partition_responses[0]
    assert error_of(answer) == "INVALID_TXN_STATE"
    assert stable_end(node) == node.log(TOPIC).end == 1


@pytest.mark.parametrize("version", [OLD, TELLS_TO_ABORT, ADDS])
def test_a_batch_that_comes_after_the_end_opens_nothing(node, version):
    producer = begun(node)
    node.ask(add_request(producer), 3)
    write(node, producer, version=version)
    end(node, producer, version=4)

    late = write(node, producer, version=version, sequence=1)

    refusals = {OLD: "INVALID_TXN_STATE", TELLS_TO_ABORT: "TRANSACTION_ABORTABLE", ADDS: "NONE"}
    assert error_of(late) == refusals[version]
    assert stable_end(node) == 2, "a new one is open, or none"


def test_under_version_2_a_batch_that_comes_after_the_end_is_of_an_old_epoch(node):
    producer = in_transaction(node)
    end(node, producer)

    late = write(node, producer, sequence=1)

    assert error_of(late) == "INVALID_PRODUCER_EPOCH"
    assert stable_end(node) == node.log(TOPIC).end


def test_with_verification_turned_off_a_late_batch_opens_a_transaction_that_hangs(node):
    node.alter_broker("1", transaction_partition_verification_enable="false")
    producer = begun(node)
    node.ask(add_request(producer), 3)
    write(node, producer, version=OLD)
    end(node, producer, version=4)

    assert error_of(write(node, producer, version=OLD, sequence=1)) == "NONE"
    assert stable_end(node) == 2
    assert error_of(node.ask(end_request(producer, committed=False), 4)) == "INVALID_TXN_STATE"
