from andiron.sim.leaders import all_led, leading, replicas
from unit.sim.quiet import ORDERS


def test_a_partition_is_where_it_is_led(quiet):
    quiet.create()
    replica = leading(quiet.world, ORDERS)
    assert replica == (quiet.host, quiet.partition())
    assert list(all_led(quiet.world)) == [replica]
    assert leading(quiet.world, ("nope", 0)) is None


def test_of_several_that_think_they_lead_the_latest_does(quiet, monkeypatch):
    quiet.create()
    other = type("Other", (), {"is_ready": True, "node": None})()

    class Deposed:
        leads, epoch, name = True, -1, ORDERS

    class Partitions(dict):
        peek = dict.get

        def __init__(self):
            super().__init__({ORDERS: Deposed})

    class There:
        ready = True
        broker = type("Broker", (), {"replica_manager": Partitions()})

    other.node = There
    quiet.world.hosts[2] = other
    assert len(replicas(quiet.world, ORDERS)) == 2
    assert leading(quiet.world, ORDERS).host is quiet.host
    Deposed.epoch = 99
    assert leading(quiet.world, ORDERS).host is other


def test_a_node_that_is_down_holds_nothing(quiet):
    quiet.create()
    quiet.host.kill()
    assert leading(quiet.world, ORDERS) is None
    assert list(all_led(quiet.world)) == []
