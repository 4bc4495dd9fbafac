"""A transaction is going to commit offsets of a group."""

import pytest

from andiron.broker.handlers import add_offsets_to_txn
from worlds.coordinating import (
    DURABLY,
    GROUP,
    OFFSETS,
    TOPIC,
    Producer,
    add_offsets_request,
    begun,
    coordinating,
    end_request,
    every_version,
    in_transaction,
    loading,
    recover,
    shard_of,
    transaction,
    txn_commit,
)
from worlds.node import SmallNode, error_of

FENCED_SINCE = 2


def add(node, version, producer, **how):
    return error_of(node.ask(add_offsets_request(producer, **how), version))


@every_version(add_offsets_to_txn)
def test_the_partition_of_the_group_becomes_part_of_the_transaction(coordinator, version):
    producer = begun(coordinator)

    assert add(coordinator, version, producer) == "NONE"

    recover(coordinator)
    [topic] = transaction(coordinator).topics
    assert (topic.topic, topic.partitions) == (OFFSETS, [shard_of(GROUP)])
    assert txn_commit(coordinator, producer, version=4) == "NONE"


@every_version(add_offsets_to_txn)
def test_producers_that_do_not_hold_the_id(coordinator, version):
    old, new = begun(coordinator), begun(coordinator)
    fenced = "PRODUCER_FENCED" if version >= FENCED_SINCE else "INVALID_PRODUCER_EPOCH"

    assert add(coordinator, version, old) == fenced
    assert add(coordinator, version, Producer(new.id + 7, 0)) == "INVALID_PRODUCER_ID_MAPPING"
    assert transaction(coordinator).transaction_state == "Empty"


@pytest.mark.parametrize(("tx", "code"), [("", "INVALID_REQUEST"), ("other", "INVALID_PRODUCER_ID_MAPPING")])
@every_version(add_offsets_to_txn)
def test_ids_that_nobody_holds(coordinator, version, tx, code):
    assert add(coordinator, version, Producer(7, 0), tx=tx) == code


@every_version(add_offsets_to_txn)
def test_a_group_without_a_name_has_a_partition_like_any_other(coordinator, version):
    assert add(coordinator, version, begun(coordinator), group="") == "NONE"


@every_version(add_offsets_to_txn)
def test_while_the_last_one_is_still_ending_the_next_cannot_begin(coordinator, version):
    producer = in_transaction(coordinator)
    coordinator.partition(TOPIC).fail("the disk is on fire")
    coordinator.ask(end_request(producer), 4)

    assert add(coordinator, version, producer) == "CONCURRENT_TRANSACTIONS"


@every_version(add_offsets_to_txn)
def test_the_answer_leaves_when_it_is_on_the_disk(version):
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    ticket = node.send(add_offsets_request(producer), version)
    assert node.answer(ticket) is None

    node.do_flushes()

    assert error_of(node.answer(ticket)) == "NONE"


@every_version(add_offsets_to_txn)
def test_while_the_coordinator_is_loading(coordinator, version):
    loading(coordinator)

    assert add(coordinator, version, Producer(0, 0)) == "COORDINATOR_LOAD_IN_PROGRESS"


@every_version(add_offsets_to_txn)
def test_where_there_is_no_coordinator(version):
    assert add(SmallNode(), version, Producer(0, 0)) == "NOT_COORDINATOR"
