"""What a node keeps in mind grows with what there is: transaction after transaction, nothing is left behind."""

import pytest

from andiron.broker.telemetry.census import Kept, census
from andiron.model.timers import SPARE
from worlds.cluster_client import create, small_cluster
from worlds.cluster_coordinators import begin, end, write_in
from worlds.coordinating import begun, coordinating, write
from worlds.coordinating import end as end_here


def worn(broker):
    return [each for each in census(broker) if each.is_worn]


def test_as_many_spare_entries_as_living_ones_are_no_harm():
    assert not Kept("t", 2 * 10 + SPARE, 10).is_worn
    assert Kept("t", 2 * 10 + SPARE + 1, 10).is_worn


def test_each_heap_of_a_sum_may_have_its_spare_entries():
    assert not Kept("t", 2 * 10 + 3 * SPARE, 10, heaps=3).is_worn
    assert Kept("t", 2 * 10 + 3 * SPARE + 1, 10, heaps=3).is_worn


def test_a_node_alone_keeps_nothing_of_transactions_that_are_over():
    node = coordinating()
    producer = begun(node)
    for _ in range(60):
        write(node, producer, b"x")
        producer = end_here(node, producer)

    assert worn(node.node.broker) == []
    assert sum(each.entries for each in census(node.node.broker)) < 60


def test_followers_keep_no_ended_transactions():
    cluster = small_cluster()
    create(cluster, "t", (1, 2, 3))
    producer = begin(cluster)
    for _ in range(30):
        assert write_in(cluster, producer, "t", b"x").error_code == 0
        producer = end(cluster, producer, committed=True)
    cluster.pass_time(2_000)

    for number in (1, 2, 3):
        kept = {each.table: each for each in census(cluster.broker(number))}
        assert kept["ended transactions"].entries == 0
        assert worn(cluster.broker(number)) == []


@pytest.mark.parametrize("table", ["deadlines of requests", "ended transactions", "timers of groups"])
def test_each_table_is_told_once(table):
    told = [each.table for each in census(coordinating().node.broker)]

    assert told.count(table) == 1
