"""Two-phase commit (KIP-939): what was prepared waits, and whoever takes over ends it under an identity of its own."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, NOBODY, UNLIMITED_MS, Identity
from worlds.transacting import TIMEOUT_MS, A, B, Coordinator, refusal


def ongoing_of(answer) -> Identity:
    return Identity(answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch)


def holder_of(answer) -> Identity:
    assert answer.error_code == 0
    return Identity(answer.producer_id, answer.producer_epoch)


def prepared(partitions=(A, B), **how) -> tuple[Coordinator, Identity]:
    """A producer that has written everything, and is gone."""
    coordinator = Coordinator()
    producer = coordinator.init(enable_2pc=True, **how)
    coordinator.add(producer, *partitions)
    return coordinator, producer


def take_over(coordinator: Coordinator, **how):
    return coordinator.ask_init(enable_2pc=True, keep_prepared=True, **how)


def test_two_phase_commit_must_be_enabled():
    coordinator = Coordinator(TransactionSettings())

    code = refusal(coordinator.init, enable_2pc=True)
    assert code is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert refusal(coordinator.init, keep_prepared=True) is ErrorCode.UNSUPPORTED_VERSION


def test_a_transaction_in_two_phase_commit_has_no_timeout():
    coordinator, _ = prepared(timeout_ms=0)

    coordinator.pass_time(1 << 31)
    assert coordinator.transaction().timeout_ms == UNLIMITED_MS
    assert coordinator.state is State.ONGOING


def test_whoever_takes_over_learns_what_is_ongoing_and_gets_an_epoch_of_its_own():
    coordinator, producer = prepared()

    answer = take_over(coordinator)

    assert (holder_of(answer), ongoing_of(answer)) == ((101, 1), producer)
    assert coordinator.state is State.ONGOING
    assert list(coordinator.transaction().partitions) == [A, B]


def test_with_nothing_ongoing_there_is_nothing_to_take_over():
    coordinator = Coordinator()

    first, second = take_over(coordinator), take_over(coordinator)

    assert (holder_of(first), ongoing_of(first)) == ((101, 0), NOBODY)
    assert (holder_of(second), ongoing_of(second)) == ((101, 1), NOBODY)


def test_taking_over_again_and_again_leaves_the_transaction_what_it_is():
    coordinator, producer = prepared()

    for epoch in (1, 2, 3):
        answer = take_over(coordinator)
        coordinator.begin()
        assert (holder_of(answer), ongoing_of(answer)) == ((101, epoch), producer)


def test_one_that_takes_over_as_itself_and_asks_again_gets_the_same():
    coordinator, producer = prepared()

    first, again = take_over(coordinator, holding=producer), take_over(coordinator, holding=producer)

    assert holder_of(first) == holder_of(again) == (101, 1)
    assert ongoing_of(again) == producer


def test_one_that_was_taken_over_from_cannot_take_over_itself():
    coordinator, producer = prepared()
    take_over(coordinator)

    assert refusal(take_over, coordinator, holding=producer) is ErrorCode.PRODUCER_FENCED


def test_the_epochs_of_those_who_take_over_may_be_used_up():
    coordinator, producer = prepared()
    take_over(coordinator)
    value = coordinator.log and coordinator.transaction().record().value
    value.next_producer_epoch = LAST_EPOCH
    coordinator.append(coordinator.transaction().record()._replace(value=value))

    answer = take_over(coordinator)

    assert (holder_of(answer), ongoing_of(answer)) == ((102, 0), producer)


def test_a_transaction_with_the_last_epoch_is_taken_over_with_a_new_producer_id():
    coordinator = Coordinator()
    producer = coordinator.use_up_epochs(coordinator.init(enable_2pc=True))
    coordinator.add(producer, A)

    answer = take_over(coordinator)
    assert (holder_of(answer), ongoing_of(answer)) == ((102, 0), producer)
    assert refusal(coordinator.end, producer, committed=True) is ErrorCode.PRODUCER_FENCED

    ended = coordinator.end(holder_of(answer), committed=True)
    (markers,) = coordinator.write_markers()
    assert (markers.producer_id, markers.producer_epoch) == (101, LAST_EPOCH + 1)
    assert (ended.producer_id, ended.producer_epoch) == (102, 1) == coordinator.transaction().holder


@pytest.mark.parametrize("committed", [True, False])
def test_whoever_took_over_ends_it_under_its_own_identity(committed):
    coordinator, _ = prepared()
    heir = holder_of(take_over(coordinator))

    answer = coordinator.end(heir, committed=committed)
    coordinator.begin()
    (markers,) = coordinator.write_markers()

    assert (markers.producer_id, markers.producer_epoch, markers.committed) == (101, 1, committed)
    assert markers.partitions == (A, B)
    assert (answer.producer_id, answer.producer_epoch) == (101, 2) == coordinator.transaction().holder
    again = coordinator.end(heir, committed=committed)
    assert (again.producer_id, again.producer_epoch) == (101, 2)


def test_whoever_took_over_may_end_it_the_classic_way_too():
    coordinator, producer = prepared()
    heir = holder_of(take_over(coordinator))

    coordinator.end(heir, committed=True, version=4)
    (markers,) = coordinator.write_markers()

    assert (markers.producer_id, markers.producer_epoch) == producer
    assert coordinator.transaction().holder == heir


def test_the_one_that_prepared_cannot_end_it_once_it_is_taken_over():
    coordinator, producer = prepared()
    take_over(coordinator)

    assert refusal(coordinator.end, producer, committed=True) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.add, producer, A) is ErrorCode.PRODUCER_FENCED


def test_whoever_took_over_can_only_end_it():
    coordinator, _ = prepared()
    heir = holder_of(take_over(coordinator))

    assert refusal(coordinator.add, heir, A) is ErrorCode.INVALID_TXN_STATE
    assert refusal(coordinator.add, heir, A, verify_only=True) is ErrorCode.INVALID_TXN_STATE


def test_a_late_commit_of_what_was_taken_over_does_not_touch_the_next_transaction():
    coordinator, _ = prepared()
    heir = holder_of(take_over(coordinator))
    heirs_next = coordinator.commit(heir)
    coordinator.add(heirs_next, A)

    assert refusal(coordinator.end, heir, committed=True) is ErrorCode.PRODUCER_FENCED
    assert coordinator.state is State.ONGOING


def test_a_newcomer_that_does_not_want_it_aborts_it():
    coordinator, _ = prepared()
    heir = holder_of(take_over(coordinator))

    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS
    (markers,) = coordinator.write_markers()
    assert (markers.producer_epoch, markers.committed) == (1, False)
    assert coordinator.init() == (101, 3)
    assert refusal(coordinator.end, heir, committed=True) is ErrorCode.PRODUCER_FENCED


def test_one_that_is_being_ended_is_waited_for():
    coordinator, producer = prepared()
    coordinator.end(producer, committed=True)

    assert refusal(take_over, coordinator) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert ongoing_of(take_over(coordinator)) == NOBODY


def test_a_transaction_with_a_timeout_can_be_taken_over_and_keeps_the_longer_one():
    coordinator = Coordinator()
    coordinator.add(coordinator.init(timeout_ms=5_000), A)

    coordinator.ask_init(keep_prepared=True, timeout_ms=1_000)
    assert coordinator.transaction().timeout_ms == 5_000
    coordinator.ask_init(keep_prepared=True, timeout_ms=9_000)
    assert coordinator.transaction().timeout_ms == 9_000
    take_over(coordinator)
    assert coordinator.transaction().is_two_phase
    coordinator.ask_init(keep_prepared=True, timeout_ms=1_000)
    assert coordinator.transaction().is_two_phase, "what was promised is kept"


def test_what_is_taken_over_with_a_timeout_is_aborted_when_it_is_over():
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, A)
    heir = holder_of(coordinator.ask_init(keep_prepared=True))

    coordinator.pass_time(TIMEOUT_MS + 20_000)
    (markers,) = coordinator.write_markers()

    assert (markers.producer_id, markers.producer_epoch) == (101, 1)
    answer = coordinator.end(heir, committed=False)
    assert (answer.producer_id, answer.producer_epoch) == (101, 2)
