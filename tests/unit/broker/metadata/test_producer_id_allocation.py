"""A producer id is given out of this broker's block, and the controller is asked when that is used up."""

import pytest

from andiron.broker.metadata.producer_id_allocation import in_transactions, next_producer_id
from andiron.broker.node.waiting import Wait
from andiron.controller.producer_ids import BLOCK
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.transactions.requests import InitProducer


def fresh(node):
    """An id, however it is come by."""
    given = next_producer_id(node.node.broker, node.now, lambda id: id)
    if isinstance(given, Wait):
        node.carry_out(node.node.broker.end_step())
        assert given.until()
        return given.then()
    return given


def test_producer_ids_are_given_out_of_a_block_without_asking_again(node):
    first = fresh(node)
    end = node.node.broker.raft.partition.log.end

    assert [fresh(node) for _ in range(3)] == [first + 1, first + 2, first + 3]
    assert node.node.broker.raft.partition.log.end == end


def test_a_block_that_is_used_up_is_followed_by_another(node):
    ids = [fresh(node) for _ in range(BLOCK + 2)]

    assert ids == list(range(ids[0], ids[0] + BLOCK + 2))
    assert node.node.broker.image.next_producer_id == 2 * BLOCK


def test_what_keeps_the_controller_from_giving_one_is_raised_to_who_asked(node):
    node.disk.fill_up()

    wait = next_producer_id(node.node.broker, node.now, lambda id: id)

    with pytest.raises(ProtocolError) as caught:
        wait.then()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_transactional_id_takes_one_only_when_it_is_new(coordinator):
    broker = coordinator.node.broker

    def begin():
        wait = in_transactions(broker, InitProducer("tx", 60_000), coordinator.now)
        coordinator.carry_out(coordinator.node.broker.end_step())
        while isinstance(wait, Wait):
            assert wait.until()
            wait = wait.then()
        return wait

    first, again = begin(), begin()

    assert (again.producer_id, again.producer_epoch) == (first.producer_id, first.producer_epoch + 1)
