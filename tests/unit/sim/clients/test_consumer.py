import pytest

from andiron.sim.clients.consumer import Consumer
from unit.sim.quiet import ORDERS, Quiet


def consuming(quiet):
    consumer = Consumer(quiet.world, quiet.network, "consumer", ["orders"])
    consumer.begin()
    return consumer


@pytest.mark.parametrize("seed", range(8))
def test_it_comes_to_the_end_and_is_done(seed):
    quiet = Quiet(seed)
    quiet.create(internal_segment_bytes=300)
    for number in range(30):
        quiet.write(b"%d" % number * 10)
    consumer = consuming(quiet)
    quiet.run(20_000)
    assert consumer._positions == {ORDERS: 30}
    assert not consumer.is_done
    quiet.write(b"more")
    consumer.is_closing = True
    quiet.run(20_000)
    assert consumer.is_done
    assert consumer._positions == {ORDERS: 31}


@pytest.mark.parametrize("seed", range(4))
def test_a_place_that_is_deleted_is_given_up_for_another(seed):
    quiet = Quiet(seed)
    quiet.create()
    for number in range(10):
        quiet.write(b"%d" % number)
    quiet.delete_records(7)
    consumer = consuming(quiet)
    quiet.run(20_000)
    assert consumer._positions == {ORDERS: 10}


def test_a_node_that_restarts_costs_it_nothing_but_its_session(quiet):
    quiet.create()
    for number in range(10):
        quiet.write(b"%d" % number)
    consumer = consuming(quiet)
    quiet.run(2_000)
    quiet.restart(quiet.host.kill)
    quiet.write(b"more")
    quiet.run(20_000)
    assert consumer._positions == {ORDERS: 11}
