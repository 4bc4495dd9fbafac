"""Where a transaction writes."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.transactions.states import State
from andiron.transactions.transaction import BUMPING, CLASSIC, Identity
from worlds.transacting import A, B, C, Coordinator, refusal


def begun(*partitions, **how) -> tuple[Coordinator, Identity]:
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, *partitions, **how)
    return coordinator, producer


def test_the_first_partition_begins_the_transaction():
    coordinator, _ = begun(A)

    transaction = coordinator.transaction()
    assert (transaction.state, transaction.started_at) == (State.ONGOING, coordinator.now)
    assert list(transaction.partitions) == [A]


def test_each_partition_is_answered_for():
    coordinator, producer = begun(A)

    assert coordinator.add(producer, A, C) == {A: ErrorCode.NONE, C: ErrorCode.NONE}
    assert list(coordinator.transaction().partitions) == [A, C]


def test_the_time_runs_from_the_first_partition_on():
    coordinator, producer = begun(A)
    start = coordinator.now
    coordinator.now += 500
    coordinator.add(producer, B)

    assert coordinator.transaction().started_at == start
    assert coordinator.transaction().updated_at == start + 500


def test_what_is_in_already_needs_no_record():
    coordinator, producer = begun(A, B)
    records = len(coordinator.log)

    assert coordinator.add(producer, B) == {B: ErrorCode.NONE}
    assert len(coordinator.log) == records


@pytest.mark.parametrize(("version", "of_client"), [(0, CLASSIC), (3, CLASSIC), (4, BUMPING), (5, BUMPING)])
def test_who_asks_tells_the_version_of_the_transaction(version, of_client):
    coordinator, _ = begun(A, version=version)

    assert coordinator.transaction().version == of_client


def test_a_transaction_begins_after_a_complete_one():
    coordinator, producer = begun(A)
    coordinator.now += 500
    producer = coordinator.commit(producer)
    coordinator.add(producer, C)

    assert list(coordinator.transaction().partitions) == [C]
    assert coordinator.transaction().started_at == coordinator.now


def test_producers_that_do_not_hold_the_id_are_refused():
    coordinator, producer = begun(A)
    other, older = Identity(55, 0), Identity(producer.producer_id, -1)

    assert refusal(coordinator.add, other, A) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert refusal(coordinator.add, older, A) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.add, older, A, version=2) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.add, older, A, version=1) is ErrorCode.INVALID_PRODUCER_EPOCH
    code = refusal(coordinator.add, producer, A, transactional_id="u")
    assert code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert refusal(coordinator.add, producer, A, transactional_id="") is ErrorCode.INVALID_REQUEST


def test_the_epoch_that_nobody_gets_is_nobodys():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(last, A)
    assert refusal(coordinator.init) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()

    forged = coordinator.transaction().holder
    assert refusal(coordinator.add, forged, A) is ErrorCode.PRODUCER_FENCED
    assert refusal(coordinator.end, forged, committed=False) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("version", [4, 5])
def test_nothing_is_added_while_markers_are_owed(version):
    coordinator, producer = begun(A)
    answer = coordinator.end(producer, committed=True, version=version)
    going_on = producer if version == 4 else Identity(answer.producer_id, answer.producer_epoch)

    assert refusal(coordinator.add, going_on, B) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert refusal(coordinator.add, going_on, B, verify_only=True) is ErrorCode.CONCURRENT_TRANSACTIONS


def test_a_new_producer_id_waits_for_the_markers_of_the_old_one():
    coordinator = Coordinator()
    last = coordinator.use_up_epochs(coordinator.init())
    coordinator.add(last, A)
    answer = coordinator.end(last, committed=True)
    going_on = Identity(answer.producer_id, answer.producer_epoch)

    assert going_on == (102, 0)
    assert refusal(coordinator.add, going_on, B) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.write_markers()
    assert coordinator.add(going_on, B) == {B: ErrorCode.NONE}


# ── merely asking ────────────────────────────────────────────────────────────────────


def test_a_partition_that_was_not_added_can_be_told_from_one_that_was():
    coordinator, producer = begun(A)

    answer = coordinator.add(producer, A, B, verify_only=True)
    older = coordinator.add(producer, A, B, verify_only=True, version=4)

    assert answer == {A: ErrorCode.NONE, B: ErrorCode.TRANSACTION_ABORTABLE}
    assert older == {A: ErrorCode.NONE, B: ErrorCode.INVALID_TXN_STATE}
    assert list(coordinator.transaction().partitions) == [A]


def test_with_no_transaction_no_partition_was_added():
    coordinator = Coordinator()
    producer = coordinator.init()

    answer = coordinator.add(producer, A, verify_only=True)
    assert answer == {A: ErrorCode.TRANSACTION_ABORTABLE}
    assert coordinator.state is State.EMPTY


def test_merely_asking_is_for_the_holder_too():
    coordinator, producer = begun(A)
    coordinator.end(producer, committed=True)

    assert refusal(coordinator.add, producer, A, verify_only=True) is ErrorCode.PRODUCER_FENCED
    code = refusal(coordinator.add, Identity(9, 0), A, verify_only=True)
    assert code is ErrorCode.INVALID_PRODUCER_ID_MAPPING
