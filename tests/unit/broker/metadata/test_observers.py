"""Who follows the metadata without a vote, for as long as it does."""

from andiron.broker.metadata.observers import Observers
from andiron.broker.node.patience import OBSERVER_SESSION_MS


def test_an_observer_is_as_far_as_its_last_fetch():
    observers = Observers()
    observers.fetched(7, 3, 10, now=100)
    observers.fetched(7, 10, 10, now=200)

    assert (observers[7].offset, observers[7].fetched_at, observers[7].caught_up_at) == (10, 200, 200)


def test_one_that_lags_has_caught_up_no_later_than_it_has():
    observers = Observers()
    observers.fetched(7, 10, 10, now=100)
    observers.fetched(7, 10, 20, now=200)

    assert observers[7].caught_up_at == 100


def test_those_that_fetch_no_more_are_forgotten_when_others_come():
    observers = Observers()
    for number in range(1_000):
        observers.fetched(number, 0, 0, now=number * OBSERVER_SESSION_MS)
        observers.fetched(-1, 0, 0, now=number * OBSERVER_SESSION_MS)

    assert set(observers) == {-1, 999}
