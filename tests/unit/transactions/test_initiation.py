"""Who holds a transactional id: newcomers, and those who go on. Those who take over: test_taking_over.py."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.transactions.requests import InitProducer
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, Identity
from worlds.transacting import TIMEOUT_MS, A, Coordinator, refusal

# ── newcomers ────────────────────────────────────────────────────────────────────────


def test_a_new_id_begins_at_epoch_0_of_a_new_producer_id():
    coordinator = Coordinator()

    assert coordinator.init() == (101, 0)
    assert coordinator.state is State.EMPTY


def test_a_newcomer_gets_the_next_epoch():
    coordinator = Coordinator()
    coordinator.init()

    assert coordinator.init() == (101, 1)
    assert coordinator.init() == (101, 2)


def test_after_the_last_epoch_there_is_a_new_producer_id():
    coordinator = Coordinator()
    coordinator.use_up_epochs(coordinator.init())

    assert coordinator.init() == (102, 0)


def test_a_producer_id_that_is_needed_and_not_given_is_asked_for_again():
    coordinator = Coordinator()

    request = InitProducer("t", TIMEOUT_MS)
    assert refusal(coordinator.shard.decide, request, 0) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_the_timeout_is_the_latest_one_asked_for():
    coordinator = Coordinator()
    coordinator.init(timeout_ms=5)
    coordinator.init(timeout_ms=7)

    assert coordinator.transaction().timeout_ms == 7


@pytest.mark.parametrize("timeout_ms", [0, -1, 15 * 60_000 + 1])
def test_a_timeout_is_positive_and_not_too_long(timeout_ms):
    code = refusal(Coordinator().init, timeout_ms=timeout_ms)

    assert code is ErrorCode.INVALID_TRANSACTION_TIMEOUT


def test_an_empty_id_is_no_id():
    assert refusal(Coordinator().init, transactional_id="") is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("half", [Identity(7, -1), Identity(-1, 0)])
def test_a_producer_id_comes_with_its_epoch(half):
    assert refusal(Coordinator().init, half) is ErrorCode.INVALID_REQUEST


# ── what the predecessor left ────────────────────────────────────────────────────────


def test_an_ongoing_transaction_is_aborted_first():
    coordinator = Coordinator()
    coordinator.add(coordinator.init(), A)

    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert coordinator.state is State.PREPARE_ABORT
    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS

    (markers,) = coordinator.write_markers()
    assert (markers.producer_id, markers.producer_epoch, markers.committed) == (101, 1, False)
    assert coordinator.init() == (101, 2)


def test_a_commit_on_its_way_is_waited_for():
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, A)
    coordinator.end(producer, committed=True)

    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert coordinator.init() == (101, 2)


def test_a_producer_that_was_driven_out_cannot_go_on_with_the_epoch_of_the_abort():
    coordinator = Coordinator()
    zombie = coordinator.init()
    coordinator.add(zombie, A)
    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()

    assert refusal(coordinator.init, zombie) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.end, zombie, committed=False) is ErrorCode.PRODUCER_FENCED


def test_an_ongoing_transaction_with_the_last_epoch_is_aborted_with_the_one_that_nobody_gets():
    coordinator = Coordinator()
    producer = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(producer, A)

    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS
    (markers,) = coordinator.write_markers()
    assert markers.producer_epoch == LAST_EPOCH + 1
    assert coordinator.transaction().holder == (101, LAST_EPOCH + 1)
    assert coordinator.init() == (102, 0)


# ── those who go on (KIP-360) ────────────────────────────────────────────────────────


def test_the_holder_gets_the_next_epoch_and_when_it_asks_again_the_same():
    coordinator = Coordinator()
    first = coordinator.init()

    assert coordinator.init(first) == (101, 1)
    assert coordinator.init(first) == (101, 1)
    coordinator.begin()
    assert coordinator.init(first) == (101, 1), "a coordinator that begins anew knows as much"
    assert coordinator.init(Identity(101, 1)) == (101, 2)


def test_a_holder_whose_epochs_are_used_up_gets_a_producer_id_and_when_it_asks_again_the_same():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())

    assert coordinator.init(last) == (102, 0)
    assert coordinator.init(last) == (102, 0)
    assert coordinator.init(Identity(102, 0)) == (102, 1)
    assert refusal(coordinator.init, last) is ErrorCode.PRODUCER_FENCED


def test_a_producer_that_another_came_after_is_fenced():
    coordinator = Coordinator()
    first = coordinator.init()
    coordinator.init()

    assert refusal(coordinator.init, first) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.init, first, version=4) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.init, first, version=3) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(coordinator.init, Identity(55, 1)) is ErrorCode.PRODUCER_FENCED


def test_a_producer_whose_id_was_forgotten_begins_anew():
    assert Coordinator().init(Identity(7, 9)) == (101, 0)


def test_a_late_request_does_not_touch_the_next_transaction():
    coordinator = Coordinator()
    first = coordinator.init()
    second = coordinator.init(first)
    coordinator.add(second, A)

    assert refusal(coordinator.init, first) is ErrorCode.PRODUCER_FENCED
    assert coordinator.state is State.ONGOING


def test_a_holder_that_gives_up_its_own_transaction_goes_on_with_the_epoch_of_the_abort():
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, A)

    assert refusal(coordinator.init, producer) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert coordinator.init(producer) == (101, 1)


def test_a_holder_that_missed_the_answer_to_its_commit_goes_on_with_the_epoch_it_was_given():
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, A)
    coordinator.commit(producer)

    assert coordinator.init(producer) == (101, 1)


def test_a_holder_whose_last_epoch_timed_out_gets_a_new_producer_id():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(last, A)
    coordinator.pass_time(TIMEOUT_MS + 20_000)
    coordinator.write_markers()

    assert coordinator.init(last) == (102, 0)
    assert coordinator.init(last) == (102, 0)
