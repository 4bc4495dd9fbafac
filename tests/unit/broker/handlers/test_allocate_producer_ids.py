"""Blocks of producer ids, each given once, by the controller alone."""

import pytest

from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from worlds.node import Closed, error_of


def test_no_two_blocks_overlap_whoever_asks(three):
    blocks = [
        three.ask(three.leader, AllocateProducerIdsRequest(number, three.epoch_of(number)))
        for number in (1, 2, 3, 1)
    ]

    assert [error_of(block) for block in blocks] == ["NONE"] * 4
    ids = [
        id
        for block in blocks
        for id in range(block.producer_id_start, block.producer_id_start + block.producer_id_len)
    ]
    assert len(set(ids)) == len(ids) == 4_000


@pytest.mark.parametrize(
    "broker, epoch, code", [(1, 0, "STALE_BROKER_EPOCH"), (9, 0, "BROKER_ID_NOT_REGISTERED")]
)
def test_a_broker_that_is_not_known_in_this_life_gets_none(three, broker, epoch, code):
    assert three.error(three.leader, AllocateProducerIdsRequest(broker, epoch)) == code


def test_a_node_that_is_not_the_controller_gives_no_producer_ids(three):
    assert three.error(three.follower, AllocateProducerIdsRequest(1, three.epoch_of(1))) == "NOT_CONTROLLER"


def test_clients_get_no_blocks(three):
    with pytest.raises(Closed):
        three.ask_as_client(three.leader, AllocateProducerIdsRequest(1, 0))
