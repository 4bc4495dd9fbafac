"""How transactions stand, as their coordinator knows it."""

from andiron.wire.messages.describe_transactions import DescribeTransactionsRequest
from worlds.coordinating import (
    DURABLY,
    OFFSETS,
    TOPIC,
    TX,
    add_request,
    begun,
    coordinating,
    end,
    in_transaction,
    loading,
    recover,
    shard_of,
    txn_commit,
    write,
)
from worlds.node import SmallNode, error_of


def describe(node, *ids):
    return node.ask(DescribeTransactionsRequest(list(ids))).transaction_states


def test_an_open_transaction_is_told_with_where_it_has_written(coordinator):
    producer = in_transaction(coordinator)
    write(coordinator, producer, partition=2)
    txn_commit(coordinator, producer)

    [found] = describe(coordinator, TX)

    assert (error_of(found), found.transactional_id, found.transaction_state) == ("NONE", TX, "Ongoing")
    assert (found.producer_id, found.producer_epoch, found.transaction_timeout_ms) == (*producer, 60_000)
    assert found.transaction_start_time_ms == coordinator.now
    assert [(each.topic, each.partitions) for each in found.topics] == [
        (TOPIC, [0, 2]), (OFFSETS, [shard_of("g")]),
    ]  # fmt: skip


def test_one_that_is_at_rest_has_written_nowhere(coordinator):
    begun(coordinator)
    end(coordinator, in_transaction(coordinator, tx="ended"), tx="ended")

    fresh, ended = describe(coordinator, TX, "ended")

    assert (fresh.transaction_state, fresh.transaction_start_time_ms, fresh.topics) == ("Empty", -1, [])
    assert (ended.transaction_state, ended.topics) == ("CompleteCommit", [])


def test_it_is_the_same_after_a_crash(coordinator):
    in_transaction(coordinator)
    before = describe(coordinator, TX)

    recover(coordinator)

    assert describe(coordinator, TX) == before


def test_of_several_each_has_its_entry(coordinator):
    begun(coordinator, "b")
    begun(coordinator, "a")

    found = describe(coordinator, "a", "none", "", "b")

    assert [(each.transactional_id, error_of(each)) for each in found] == [
        ("a", "NONE"),
        ("none", "TRANSACTIONAL_ID_NOT_FOUND"),
        ("", "INVALID_REQUEST"),
        ("b", "NONE"),
    ]
    assert describe(coordinator) == []


def test_while_it_is_loaded_its_entry_says_so(coordinator):
    loading(coordinator)

    [found] = describe(coordinator, TX)

    assert (error_of(found), found.transactional_id) == ("COORDINATOR_LOAD_IN_PROGRESS", TX)


def test_where_there_is_no_coordinator():
    assert [error_of(each) for each in describe(SmallNode(), TX)] == ["NOT_COORDINATOR"]


def test_the_answer_waits_for_what_it_tells_to_be_committed():
    node = coordinating(**DURABLY)
    producer = begun(node)
    node.flush_at_once = False
    node.send(add_request(producer), 3)
    ticket = node.send(DescribeTransactionsRequest([TX]))
    assert node.answer(ticket) is None

    node.do_flushes()

    assert node.answer(ticket).transaction_states[0].transaction_state == "Ongoing"
