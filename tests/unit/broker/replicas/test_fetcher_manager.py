"""One fetcher for each leader: partitions go to the one whose node leads them, and away when that changes."""

import pytest

from andiron.broker.replicas.fetcher_manager import FetcherManager
from andiron.model.ids import NEVER
from worlds.cluster_client import create, small_cluster, write

NODES = [1, 2, 3]


@pytest.fixture
def cluster():
    made = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    create(made, "t", [(1, 2, 3), (2, 3, 1), (1, 3, 2)])
    return made


def followed(cluster, number):
    """How many partitions a node fetches from whom."""
    fetchers = cluster.broker(number).fetcher_manager._fetchers
    return {leader: len(fetcher) for leader, fetcher in fetchers.items() if len(fetcher)}


def test_each_partition_is_fetched_from_its_leader(cluster):
    assert [followed(cluster, number) for number in NODES] == [{2: 1}, {1: 2}, {1: 2, 2: 1}]


def test_what_is_led_by_another_is_fetched_from_that_one(cluster):
    cluster.kill(1)
    cluster.until(lambda: all(cluster.leader_of("t", p) in (2, 3) for p in range(3)))

    assert followed(cluster, 3) == {2: 2}
    assert followed(cluster, 2) == {3: 1}


def test_what_is_led_here_is_fetched_from_nobody(cluster):
    cluster.kill(1, 2)
    cluster.until(lambda: all(cluster.leader_of("t", p) in (3, -1) for p in range(3)))

    cluster.pass_time(200)

    assert followed(cluster, 3) == {}
    assert cluster.broker(3).fetcher_manager.next_deadline() == NEVER


def test_a_leader_that_comes_back_is_fetched_from_again(cluster):
    cluster.kill(1)
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))
    write(cluster, "t", b"a")
    cluster.start(1)
    cluster.until(lambda: 1 in cluster.image_of("t").isr)

    assert followed(cluster, 1)[cluster.leader_of("t")] >= 1


def test_a_follower_to_a_durable_topic_fetches_on_when_it_is_flushed(cluster):
    create(cluster, "d", (1, 2, 3), flush_messages=1)
    for number in range(3):
        write(cluster, "d", b"%d" % number)

    held = cluster.partition(2, "d").log
    assert (held.end, held.flushed_end) == (3, 3)


def test_leaving_what_was_never_followed_is_nothing(cluster):
    fetchers = cluster.broker(1).fetcher_manager
    fetchers.leave(cluster.partition(1, "t"))
    fetchers.flushed(cluster.partition(1, "t"), cluster.now)

    assert followed(cluster, 1) == {2: 1}


class Busy:
    """A fetcher that has more to take in, or not."""

    def __init__(self, name, ticked, *, is_taking_in):
        self._name, self._ticked, self.is_taking_in = name, ticked, is_taking_in

    def tick(self, now):
        self._ticked.append(self._name)


def test_of_those_that_have_more_to_take_in_one_does_so_in_a_step_and_each_in_its_turn():
    fetchers, ticked = FetcherManager(None, None, None, None, None), []
    fetchers._fetchers = {
        1: Busy("a", ticked, is_taking_in=True),
        2: Busy("b", ticked, is_taking_in=False),
        3: Busy("c", ticked, is_taking_in=True),
    }
    for _ in range(3):
        fetchers.tick(0)
    assert ticked == ["b", "c", "b", "a", "b", "c"]
