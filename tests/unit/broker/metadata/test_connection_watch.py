"""A node that follows the metadata is missed soon after its connection breaks, unless it comes back."""

from andiron.broker.metadata.connection_watch import ConnectionWatch
from andiron.broker.node.patience import OBSERVER_BACK_MS, OBSERVER_FIRST_MS
from andiron.model.ids import NEVER

NOW = 1_000_000


def test_nobody_is_missed_whose_connection_holds():
    watch = ConnectionWatch()
    watch.seen(2, conn=7)

    assert watch.next_deadline() == NEVER
    assert watch.take_gone(NOW + 10 * OBSERVER_BACK_MS) == []


def test_one_whose_connection_breaks_is_gone_after_a_while_and_told_once():
    watch = ConnectionWatch()
    watch.seen(2, conn=7)
    watch.lost(7, NOW)

    assert watch.next_deadline() == NOW + OBSERVER_BACK_MS
    assert watch.take_gone(NOW + OBSERVER_BACK_MS - 1) == []
    assert watch.take_gone(NOW + OBSERVER_BACK_MS) == [2]
    assert watch.take_gone(NOW + OBSERVER_BACK_MS) == []
    assert watch.next_deadline() == NEVER


def test_one_that_comes_back_over_another_connection_is_not_gone():
    watch = ConnectionWatch()
    watch.seen(2, conn=7)
    watch.lost(7, NOW)
    watch.seen(2, conn=8)

    assert watch.take_gone(NOW + OBSERVER_BACK_MS) == []


def test_one_that_has_another_connection_already_is_not_missed():
    """It may have connected anew before the old connection's end was noticed."""
    watch = ConnectionWatch()
    watch.seen(2, conn=7)
    watch.seen(2, conn=8)
    watch.lost(7, NOW)

    assert watch.next_deadline() == NEVER


def test_connections_of_clients_are_of_no_interest():
    watch = ConnectionWatch()
    watch.lost(99, NOW)

    assert watch.next_deadline() == NEVER


def test_a_new_controller_gives_everybody_time_to_find_it():
    watch = ConnectionWatch()
    watch.begin([1, 2, 3], -1, NOW)
    watch.seen(2, conn=7)

    assert watch.next_deadline() == NOW + OBSERVER_FIRST_MS
    assert watch.take_gone(NOW + OBSERVER_FIRST_MS) == [1, 3]


def test_but_the_controller_before_it_has_been_missed_already():
    watch = ConnectionWatch()
    watch.begin([1, 2, 3], 3, NOW)

    assert watch.take_gone(NOW + OBSERVER_BACK_MS) == [3]


def test_a_number_that_another_node_has_taken_over_counts_for_that_one():
    """Connections are numbered; what counts is who fetched last through one."""
    watch = ConnectionWatch()
    watch.seen(2, conn=7)
    watch.seen(3, conn=7)
    watch.lost(7, NOW)

    assert watch.take_gone(NOW + OBSERVER_BACK_MS) == [3]
