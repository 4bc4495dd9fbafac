"""Ids are given once each, block by block."""

from andiron.broker.metadata.producer_id_manager import ProducerIdManager


def test_a_block_is_used_up_one_by_one():
    ids = ProducerIdManager()

    assert ids.take() is None
    assert ids.take_from(1000, 3) == 1000
    assert [ids.take(), ids.take(), ids.take()] == [1001, 1002, None]


def test_a_second_block_that_arrives_meanwhile_gives_one_id_and_is_dropped():
    ids = ProducerIdManager()
    ids.take_from(1000, 3)

    assert ids.take_from(2000, 3) == 2000
    assert [ids.take(), ids.take(), ids.take()] == [1001, 1002, None]
