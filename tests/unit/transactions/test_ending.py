"""The outcome of a transaction, and what requests that come twice or late do to it."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.transactions.requests import EndTransaction
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH, Identity
from worlds.transacting import TIMEOUT_MS, A, B, Coordinator, refusal

BOTH = pytest.mark.parametrize("committed", [True, False])


def begun(version: int = 5) -> tuple[Coordinator, Identity]:
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, A, B, version=version)
    return coordinator, producer


def identity_of(answer) -> Identity:
    return Identity(answer.producer_id, answer.producer_epoch)


# ── version 2 ────────────────────────────────────────────────────────────────────────


@BOTH
def test_version_2_ends_in_a_new_epoch(committed):
    coordinator, producer = begun()

    answer = coordinator.end(producer, committed=committed)

    assert identity_of(answer) == (101, 1)
    assert coordinator.state is (State.PREPARE_COMMIT if committed else State.PREPARE_ABORT)
    (markers,) = coordinator.write_markers()
    assert (markers.producer_epoch, markers.committed, markers.version) == (1, committed, 2)
    assert coordinator.state is (State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT)
    assert coordinator.transaction().holder == (101, 1)


def test_after_the_last_epoch_version_2_ends_in_a_new_producer_id():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(last, A)

    answer = coordinator.end(last, committed=True)
    (markers,) = coordinator.write_markers()

    assert identity_of(answer) == (102, 0) == coordinator.transaction().holder
    assert (markers.producer_id, markers.producer_epoch) == (101, LAST_EPOCH + 1)
    assert identity_of(coordinator.end(last, committed=True)) == (102, 0)
    coordinator.begin()
    assert identity_of(coordinator.end(last, committed=True)) == (102, 0)


def test_a_producer_id_that_is_needed_and_not_given_is_asked_for_again():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(last, A)

    request = EndTransaction("t", *last, True)
    assert refusal(coordinator.shard.decide, request, 0) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@BOTH
def test_asked_again_it_is_answered_as_the_first_time_once_complete(committed):
    coordinator, producer = begun()
    first = coordinator.end(producer, committed=committed)

    code = refusal(coordinator.end, producer, committed=committed)
    assert code is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert coordinator.end(producer, committed=committed) == first
    assert refusal(coordinator.end, producer, committed=not committed) is ErrorCode.INVALID_TXN_STATE


@BOTH
def test_late_it_does_not_touch_the_next_transaction(committed):
    coordinator, producer = begun()
    going_on = coordinator.commit(producer)
    coordinator.add(going_on, A)

    assert refusal(coordinator.end, producer, committed=committed) is ErrorCode.PRODUCER_FENCED
    assert coordinator.state is State.ONGOING
    coordinator.commit(going_on)
    assert refusal(coordinator.end, producer, committed=committed) is ErrorCode.PRODUCER_FENCED


def test_a_new_epoch_has_nothing_to_commit_yet():
    coordinator, producer = begun()
    going_on = coordinator.commit(producer)

    assert refusal(coordinator.end, going_on, committed=True) is ErrorCode.INVALID_TXN_STATE


def test_an_abort_with_no_transaction_gives_a_new_epoch_too():
    coordinator = Coordinator()
    producer = coordinator.init()

    answer = coordinator.end(producer, committed=False)

    assert identity_of(answer) == (101, 1)
    (markers,) = coordinator.write_markers()
    assert markers.partitions == ()
    assert coordinator.state is State.COMPLETE_ABORT
    assert coordinator.end(producer, committed=False) == answer
    assert identity_of(coordinator.end(Identity(101, 1), committed=False)) == (101, 2)


def test_a_commit_with_no_transaction_is_refused():
    coordinator = Coordinator()
    producer = coordinator.init()

    assert refusal(coordinator.end, producer, committed=True) is ErrorCode.INVALID_TXN_STATE


def test_who_only_became_the_holder_cannot_be_taken_for_one_that_asks_again():
    coordinator = Coordinator()
    first = coordinator.init()
    coordinator.init(first)

    assert refusal(coordinator.end, first, committed=False) is ErrorCode.PRODUCER_FENCED


# ── classic ──────────────────────────────────────────────────────────────────────────


@BOTH
def test_the_classic_end_keeps_the_epoch(committed):
    coordinator, producer = begun(version=3)

    answer = coordinator.end(producer, committed=committed, version=4)

    assert identity_of(answer) == (-1, -1)
    (markers,) = coordinator.write_markers()
    assert (markers.producer_epoch, markers.committed, markers.version) == (0, committed, 0)
    assert coordinator.transaction().holder == producer


@BOTH
def test_asked_again_the_classic_end_is_fine_as_long_as_the_last_one_was_the_same(committed):
    coordinator, producer = begun(version=3)
    coordinator.end(producer, committed=committed, version=4)

    code = refusal(coordinator.end, producer, committed=committed, version=4)
    assert code is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    coordinator.end(producer, committed=committed, version=4)
    code = refusal(coordinator.end, producer, committed=not committed, version=4)
    assert code is ErrorCode.INVALID_TXN_STATE


@BOTH
def test_the_classic_end_of_nothing_is_refused(committed):
    coordinator = Coordinator()
    producer = coordinator.init()

    code = refusal(coordinator.end, producer, committed=committed, version=4)
    assert code is ErrorCode.INVALID_TXN_STATE


def test_a_late_classic_commit_commits_half_of_the_next_transaction():
    """What Jepsen found in Kafka, and what every broker that speaks the classic protocol has: the commit that was
    sent twice cannot be told from the one that is to come. Under version 2 it can be (above)."""
    coordinator, producer = begun(version=3)
    coordinator.commit(producer, version=4)
    coordinator.add(producer, A, version=3)  # the next one: B is still to come

    coordinator.end(producer, committed=True, version=4)  # late
    (markers,) = coordinator.write_markers()

    assert (markers.partitions, markers.committed) == ((A,), True)
    coordinator.add(producer, B, version=3)
    assert list(coordinator.transaction().partitions) == [B], "the other half is a transaction of its own"


# ── who may ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", [1, 2, 4, 5])
def test_only_the_holder_ends_it(version):
    coordinator, producer = begun()
    fenced = ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH

    for epoch in (-1, 1):
        forged = Identity(producer.producer_id, epoch)
        assert refusal(coordinator.end, forged, committed=True, version=version) is fenced
    code = refusal(coordinator.end, Identity(55, 0), committed=True, version=version)
    assert code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    code = refusal(coordinator.end, producer, committed=True, version=version, transactional_id="u")
    assert code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    code = refusal(coordinator.end, producer, committed=True, version=version, transactional_id="")
    assert code is ErrorCode.INVALID_REQUEST
    assert coordinator.state is State.ONGOING


# ── over its holder's head ───────────────────────────────────────────────────────────


def test_a_holder_whose_time_was_up_cannot_commit_but_abort_and_go_on():
    coordinator, producer = begun()
    coordinator.pass_time(TIMEOUT_MS + 20_000)

    assert refusal(coordinator.end, producer, committed=True) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert refusal(coordinator.end, producer, committed=True) is ErrorCode.INVALID_TXN_STATE
    assert identity_of(coordinator.end(producer, committed=False)) == (101, 1)


def test_a_classic_holder_whose_time_was_up_is_fenced():
    coordinator, producer = begun(version=3)
    coordinator.pass_time(TIMEOUT_MS + 20_000)

    for _ in range(2):
        code = refusal(coordinator.end, producer, committed=True, version=4)
        assert code is ErrorCode.PRODUCER_FENCED
        coordinator.write_markers()


def test_a_holder_whose_time_was_up_in_its_last_epoch_is_fenced():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(last, A)
    coordinator.pass_time(TIMEOUT_MS + 20_000)
    coordinator.write_markers()

    assert refusal(coordinator.end, last, committed=False) is ErrorCode.PRODUCER_FENCED
