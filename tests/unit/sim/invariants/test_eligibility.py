import pytest

from andiron.sim.invariants.eligibility import EligibleHaveAll
from andiron.sim.watcher import Violation


def canon(trio):
    return trio.law(EligibleHaveAll)._canons.of(trio.partition(trio.leader()))


def look(trio):
    law = trio.law(EligibleHaveAll)
    law._applied = -1
    law.stepped(trio.leader())


def test_in_a_cluster_all_that_may_lead_have_everything(trio):
    trio.create(min_insync_replicas=2)
    trio.write()
    trio.followers()[0].kill()
    trio.run(5_000)
    trio.write()
    look(trio)
    assert canon(trio).end == 2


def test_one_in_sync_that_has_less_is_noticed(trio):
    trio.create()
    trio.write()
    canon(trio).end = 9
    with pytest.raises(Violation, match=r"orders-0: node-. is in sync, and ends at 1 of 9"):
        look(trio)


def test_what_is_excused_is_not(trio):
    trio.create()
    trio.write()
    canon(trio).end, canon(trio).is_excused = 9, True
    look(trio)


def test_nor_is_one_that_has_not_registered_in_its_present_life(trio):
    trio.create()
    trio.write()
    law, leader = trio.law(EligibleHaveAll), trio.leader()
    canon(trio).end, law._applied = 9, -1
    for host in trio.hosts:
        host.node.broker.lifecycle.epoch = -1
    law.stepped(leader)
