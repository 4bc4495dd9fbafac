import pytest

from andiron.model.effects import Received, Woken
from andiron.sim.invariants.patience import TransactionsHaveTheirTime
from andiron.sim.watcher import Violation
from worlds.transacting import TIMEOUT_MS, A, Coordinator


class Here:
    """A host, as far as the law looks at it."""

    name = "node-1"

    def __init__(self):
        self.world, self.event = self, Received
        self.now = 0


class Led:
    """A coordinator, as far as the law looks at it."""

    def __init__(self):
        self.coordinator = Coordinator()
        self.machine = self.coordinator.shard


@pytest.fixture
def begun():
    law, here, led = TransactionsHaveTheirTime(), Here(), Led()
    producer = led.coordinator.init()
    law._look(here, led)
    led.coordinator.add(producer, A)
    law._look(here, led)
    return law, here, led, producer


def abort(led):
    led.coordinator.pass_time(TIMEOUT_MS + 10_000)


def test_a_transaction_that_had_its_time_may_be_ended(begun):
    law, here, led, _ = begun
    here.now, here.event = TIMEOUT_MS, Woken
    abort(led)
    law._look(here, led)


def test_one_that_had_less_may_not(begun):
    law, here, led, _ = begun
    here.now, here.event = TIMEOUT_MS - 1, Woken
    abort(led)
    with pytest.raises(Violation, match=f"t had {TIMEOUT_MS - 1} ms of {TIMEOUT_MS}, by node-1"):
        law._look(here, led)


def test_its_producer_may_end_it_whenever_it_likes(begun):
    law, here, led, producer = begun
    led.coordinator.end(producer, committed=False)
    law._look(here, led)


def test_what_it_did_not_see_begin_is_not_looked_at(begun):
    _, here, led, _ = begun
    law = TransactionsHaveTheirTime()
    law._look(here, led)
    here.event = Woken
    abort(led)
    law._look(here, led)
