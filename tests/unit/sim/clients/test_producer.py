import pytest

from andiron.sim.clients.producer import Habits, Producer
from unit.sim.quiet import Quiet


def producing(quiet, **how):
    habits = {"topics": ["orders"], "acks": -1, "idempotent": True, "batches": 30, "pace_ms": 20, **how}
    producer = Producer(quiet.world, quiet.network, "producer", Habits(**habits), quiet.ledger)
    producer.begin()
    return producer


@pytest.mark.parametrize("how", [{}, {"acks": 1}, {"idempotent": False}, {"keys": 3, "tombstones": 0.5}])
def test_every_batch_is_acknowledged_once(quiet, how):
    quiet.create(partitions=2)
    producer = producing(quiet, **how)
    quiet.run(60_000)
    assert producer.is_done
    assert producer.acknowledged == len(quiet.ledger) >= 30
    stored = sum(len(mirror.batches) for mirror in quiet.mirrors.values())
    assert stored == len(quiet.ledger)


def test_with_acks_0_nobody_waits(quiet):
    quiet.create()
    producer = producing(quiet, acks=0, idempotent=False)
    quiet.run(60_000)
    assert producer.is_done
    assert producer.acknowledged == 0
    assert len(quiet.mirror().batches) == len(quiet.ledger)


@pytest.mark.parametrize("seed", range(4))
def test_connections_that_break_make_no_duplicates(seed):
    quiet = Quiet(seed)
    quiet.create(flush_messages=1)
    quiet.host.background.flush_ms_max = 100
    producer = producing(quiet, batches=60)
    for _ in range(200):
        quiet.run(50)
        if quiet.world.chance.random() < 0.3:
            producer.hang_up()
    quiet.run(60_000)
    assert producer.is_done
    assert len(quiet.mirror().batches) == producer.acknowledged == len(quiet.ledger)


def test_a_topic_that_is_not_there_yet_is_waited_for(quiet):
    producer = producing(quiet)
    quiet.run(2_000)
    assert producer.acknowledged == 0
    quiet.create()
    quiet.run(60_000)
    assert producer.acknowledged > 0


def test_when_it_closes_it_finishes_what_it_has_begun(quiet):
    quiet.create()
    producer = producing(quiet, batches=100_000)
    quiet.run(2_000)
    producer.is_closing = True
    quiet.run(5_000)
    assert producer.is_done
    assert producer.acknowledged == len(quiet.ledger)
