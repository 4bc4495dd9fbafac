"""Records of a transaction: the coordinator has its say before the first of them is taken."""

import pytest

from andiron.broker.handlers import produce
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from worlds.coordinating import (
    DURABLY,
    TOPIC,
    Producer,
    add_request,
    begun,
    coordinating,
    end,
    end_request,
    every_version,
    in_transaction,
    loading,
    stable_end,
    transaction,
    write,
    write_request,
)
from worlds.node import Closed, error_of
from worlds.producing import batch, sequence

ABORTABLE_SINCE, ADDS_SINCE = 11, 12


@every_version(produce)
def test_a_batch_of_a_transaction_is_written_where_the_transaction_has_come_to(coordinator, version):
    producer = begun(coordinator)
    if version < ADDS_SINCE:
        coordinator.ask(add_request(producer), 3)

    answers = [write(coordinator, producer, version=version, sequence=number) for number in range(2)]

    assert [(error_of(answer), answer.base_offset) for answer in answers] == [("NONE", 0), ("NONE", 1)]
    assert (stable_end(coordinator), coordinator.log(TOPIC).end) == (0, 2)
    end(coordinator, producer)
    assert stable_end(coordinator) == 3


@every_version(produce)
def test_a_partition_that_was_not_added_is_added_or_refused(coordinator, version):
    answer = write(coordinator, begun(coordinator), version=version)

    if version >= ADDS_SINCE:
        assert error_of(answer) == "NONE"
        assert transaction(coordinator).topics[0].partitions == [0]
    else:
        abortable = "TRANSACTION_ABORTABLE"
        assert error_of(answer) == (abortable if version >= ABORTABLE_SINCE else "INVALID_TXN_STATE")
        assert coordinator.log(TOPIC).end == 0


@every_version(produce)
def test_producers_that_do_not_hold_the_transactional_id(coordinator, version):
    old, new = begun(coordinator), begun(coordinator)
    strangers = [
        (old, {}, "INVALID_PRODUCER_EPOCH"),
        (new._replace(epoch=new.epoch + 1), {}, "INVALID_PRODUCER_EPOCH"),
        (new._replace(id=new.id + 7), {}, "INVALID_PRODUCER_ID_MAPPING"),
        (new, {"tx": "other"}, "INVALID_PRODUCER_ID_MAPPING"),
        (new, {"tx": ""}, "INVALID_REQUEST"),
    ]

    answers = [write(coordinator, who, version=version, **how) for who, how, _ in strangers]

    assert [error_of(answer) for answer in answers] == [code for _, _, code in strangers]
    assert coordinator.log(TOPIC).end == 0


@every_version(produce)
def test_while_the_coordinator_is_loading_any_producer_tries_again(coordinator, version):
    loading(coordinator)

    assert error_of(write(coordinator, Producer(0, 0), version=version)) == "NOT_ENOUGH_REPLICAS"


@every_version(produce)
def test_while_the_last_transaction_is_still_ending_the_next_one_waits(coordinator, version):
    producer = in_transaction(coordinator, partition=1)
    coordinator.partition(TOPIC, 1).fail("the disk is on fire")
    coordinator.ask(end_request(producer), 4)

    code = error_of(write(coordinator, producer, version=version))

    assert code == ("CONCURRENT_TRANSACTIONS" if version >= ADDS_SINCE else "NOT_ENOUGH_REPLICAS")


@every_version(produce, until=12)
def test_a_transaction_that_is_not_named_takes_the_whole_request_down(node, version):
    node.create("t", partitions=2)
    records = [batch(node, b"a", transactional=True, **sequence(0)), batch(node, b"a")]
    data = [PartitionProduceData(index, each) for index, each in enumerate(records)]
    request = ProduceRequest(acks=-1, timeout_ms=1, topic_data=[TopicProduceData("t", partition_data=data)])

    answers = node.ask(request, version).responses[0].partition_responses

    assert [error_of(answer) for answer in answers] == ["TRANSACTIONAL_ID_AUTHORIZATION_FAILED"] * 2
    assert [node.log("t", index).end for index in range(2)] == [0, 0]


def test_whoever_does_not_name_its_transaction_and_wants_no_answer_is_hung_up_on(node):
    node.create("t")

    with pytest.raises(Closed, match="TRANSACTIONAL_ID_AUTHORIZATION_FAILED"):
        node.produce("t", b"a", acks=0, transactional=True, **sequence(0))


def test_a_batch_outside_of_the_open_transaction_of_its_producer_is_refused(coordinator):
    producer = in_transaction(coordinator)

    answer = coordinator.produce(TOPIC, b"a", **sequence(1, producer.id, producer.epoch))

    assert error_of(answer) == "INVALID_TXN_STATE"


def test_acks_0_in_a_transaction_is_not_answered(coordinator):
    producer = begun(coordinator)

    ticket = coordinator.send(write_request(coordinator, producer, acks=0), 12)

    assert coordinator.replies[ticket] is None
    assert coordinator.log(TOPIC).end == 1


@every_version(produce, since=ADDS_SINCE)
def test_the_answer_leaves_when_both_coordinator_and_partition_have_it_on_the_disk(version):
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    ticket = node.send(write_request(node, producer), version)
    node.do_flush()
    assert (node.log(TOPIC).end, node.answer(ticket)) == (1, None)

    node.do_flushes()

    assert error_of(node.answer(ticket).responses[0].partition_responses[0]) == "NONE"


def test_a_transaction_may_be_written_to_an_internal_topic_by_nobody(coordinator):
    producer = begun(coordinator)

    answer = write(coordinator, producer, topic="__consumer_offsets")

    assert error_of(answer) == "INVALID_TOPIC_EXCEPTION"
