"""The coordinator of one partition: it decides, and is what its log says."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, Millis, Moment, Offset
from andiron.model.machine import LogLoaded, TimePassed
from andiron.transactions.requests import EndTransaction, InitProducer
from andiron.transactions.settings import TransactionSettings
from andiron.transactions.shard import FORGOTTEN_AT_ONCE, TransactionShard
from andiron.transactions.states import State
from andiron.transactions.transaction import LAST_EPOCH
from worlds.transacting import TIMEOUT_MS, A, B, Coordinator, refusal

DAY = 24 * 3_600_000


def begun() -> tuple[Coordinator, tuple[int, int]]:
    coordinator = Coordinator()
    producer = coordinator.init()
    coordinator.add(producer, A, B)
    return coordinator, producer


def test_deciding_changes_nothing():
    coordinator, producer = begun()
    request = EndTransaction("t", *producer, True)

    first, second = (coordinator.shard.decide(request, coordinator.now) for _ in range(2))

    assert first == second
    assert coordinator.state is State.ONGOING


def test_a_transaction_commits_from_beginning_to_end():
    coordinator, producer = begun()

    coordinator.end(producer, committed=True)
    assert coordinator.state is State.PREPARE_COMMIT
    (markers,) = coordinator.write_markers()

    assert markers.partitions == (A, B)
    assert coordinator.state is State.COMPLETE_COMMIT
    assert coordinator.transaction().partitions == {}
    assert coordinator.write_markers() == []


def test_markers_wait_until_the_outcome_is_committed():
    coordinator, producer = begun()
    coordinator.end(producer, committed=True)
    outcome = Offset(len(coordinator.log) - 1)

    assert coordinator.shard.take_markers(outcome) == []
    assert len(coordinator.shard.take_markers(Offset(outcome + 1))) == 1


def test_a_coordinator_that_begins_anew_owes_the_markers_again():
    coordinator, producer = begun()
    coordinator.end(producer, committed=True)
    (first,) = coordinator.shard.take_markers(Offset(len(coordinator.log)))

    coordinator.begin()

    assert coordinator.write_markers() == [first._replace(coordinator_epoch=2)]
    assert coordinator.state is State.COMPLETE_COMMIT


def test_markers_that_could_not_be_written_are_given_again():
    coordinator, producer = begun()
    coordinator.end(producer, committed=False)
    (markers,) = coordinator.shard.take_markers(Offset(len(coordinator.log)))
    coordinator.shard.put_back(markers)

    assert coordinator.write_markers() == [markers]


def test_a_report_that_comes_late_changes_nothing():
    coordinator, producer = begun()
    coordinator.commit(producer)
    (late,) = coordinator.written
    records = len(coordinator.log)

    coordinator.report(late)

    assert len(coordinator.log) == records


def test_a_transaction_whose_topics_are_gone_completes():
    coordinator, producer = begun()
    coordinator.gone["a"] = None
    coordinator.end(producer, committed=True)
    coordinator.write_markers()

    assert coordinator.state is State.COMPLETE_COMMIT


def test_who_needs_a_fresh_id():
    coordinator = Coordinator()
    shard = coordinator.shard
    assert shard.needs_fresh_id(InitProducer("t", 1))
    assert not shard.needs_fresh_id(EndTransaction("t", 1, 1, True))

    producer = coordinator.init()
    assert not shard.needs_fresh_id(InitProducer("t", 1))
    assert not shard.needs_fresh_id(EndTransaction("t", *producer, False))

    last = coordinator.use_up_epochs(producer)
    assert shard.needs_fresh_id(InitProducer("t", 1))
    assert shard.needs_fresh_id(EndTransaction("t", *last, False))
    assert not shard.needs_fresh_id(EndTransaction("t", *last, False, version=4))

    coordinator.add(last, A)
    assert not shard.needs_fresh_id(InitProducer("t", 1))
    assert shard.needs_fresh_id(InitProducer("t", 1, keep_prepared=True))
    assert shard.needs_fresh_id(EndTransaction("t", *last, True))

    coordinator.end(last, committed=True)
    assert not shard.needs_fresh_id(InitProducer("t", 1))
    assert not shard.needs_fresh_id(EndTransaction("t", *last, True))


# ── the clock ────────────────────────────────────────────────────────────────────────


def test_a_coordinator_without_transactions_waits_for_nothing():
    assert TransactionShard(TransactionSettings(), 1, lambda *_: True).next_deadline() == NEVER
    assert Coordinator().shard.next_deadline() == NEVER


def test_a_transaction_that_takes_too_long_is_aborted_with_a_new_epoch():
    coordinator, _ = begun()

    coordinator.pass_time(TIMEOUT_MS)
    assert coordinator.state is State.ONGOING
    coordinator.pass_time(10_000)

    assert coordinator.state is State.PREPARE_ABORT
    (markers,) = coordinator.write_markers()
    assert (markers.producer_epoch, markers.committed, markers.version) == (1, False, 2)
    assert coordinator.state is State.COMPLETE_ABORT


def test_time_is_up_for_many_at_once():
    coordinator = Coordinator()
    names = [f"t{number}" for number in range(20)]
    for name in names:
        coordinator.add(coordinator.init(transactional_id=name), A, transactional_id=name)

    coordinator.pass_time(TIMEOUT_MS + 10_000)

    assert {coordinator.transaction(name).state for name in names} == {State.PREPARE_ABORT}


def test_a_coordinator_that_begins_anew_knows_since_when_a_transaction_runs():
    coordinator, _ = begun()
    coordinator.pass_time(TIMEOUT_MS - 1_000)
    coordinator.begin()
    coordinator.pass_time(11_000)

    assert coordinator.state is State.PREPARE_ABORT


@pytest.mark.parametrize("jump_ms", [DAY, -DAY])
def test_a_transaction_has_its_time_whatever_happens_to_the_clock_on_the_wall(jump_ms):
    coordinator, _ = begun()
    began = coordinator.now

    def look_at(steady: int):
        moment = Millis(Moment(steady, steady + jump_ms))
        return coordinator.shard.decide(TimePassed(), moment).records

    assert look_at(began + 10_000) == look_at(began + TIMEOUT_MS - 1_000) == []
    (aborted,) = look_at(began + TIMEOUT_MS + 10_000)
    assert aborted[1].transaction_last_update_timestamp_ms == began + TIMEOUT_MS + 10_000 + jump_ms


def test_an_id_that_nobody_uses_is_forgotten():
    coordinator, producer = begun()
    coordinator.commit(producer)

    coordinator.pass_time(7 * DAY - 1)
    assert "t" in coordinator.shard.transactions
    coordinator.pass_time(3_600_000)

    assert coordinator.shard.transactions == {}
    assert coordinator.log[-1][1] is None
    assert coordinator.shard.next_deadline() == NEVER
    assert coordinator.init() == (102, 0)


def test_many_ids_are_forgotten_some_at_a_time():
    coordinator = Coordinator()
    for number in range(FORGOTTEN_AT_ONCE + 5):
        coordinator.init(transactional_id=f"t{number}")
    coordinator.now = Millis(coordinator.now + 8 * DAY)

    first = coordinator.shard.decide(TimePassed(), coordinator.now)
    assert len(first.records) == FORGOTTEN_AT_ONCE
    coordinator.pass_time(0)
    assert coordinator.shard.transactions == {}


def test_an_id_with_markers_owed_is_not_forgotten():
    coordinator, producer = begun()
    coordinator.end(producer, committed=True)
    coordinator.pass_time(30 * DAY)

    assert coordinator.state is State.PREPARE_COMMIT


# ── the log ──────────────────────────────────────────────────────────────────────────


def test_the_latest_record_of_an_id_is_enough():
    coordinator, producer = begun()
    coordinator.end(producer, committed=True)
    compacted = TransactionShard(TransactionSettings(), 2, lambda *_: True)
    compacted.replay(coordinator.transaction().record(), Offset(0))
    compacted.decide(LogLoaded(), coordinator.now)

    assert compacted.transactions == coordinator.shard.transactions
    assert len(compacted.take_markers(Offset(1))) == 1


def test_a_record_that_makes_no_sense_is_reported_and_leaves_all_as_it_was():
    coordinator, _ = begun()
    before = coordinator.transaction()
    value = before.record().value
    value.transaction_status = 99
    record = before.record()._replace(value=value)

    assert refusal(coordinator.shard.replay, record, Offset(9)) is ErrorCode.CORRUPT_MESSAGE
    assert coordinator.transaction() == before


@pytest.mark.parametrize("epoch", [LAST_EPOCH, LAST_EPOCH + 1])
def test_no_epoch_in_the_log_is_too_high_to_abort(epoch):
    coordinator, _ = begun()
    value = coordinator.transaction().record().value
    value.producer_epoch = epoch
    coordinator.append(coordinator.transaction().record()._replace(value=value))

    coordinator.pass_time(TIMEOUT_MS + 10_000)
    coordinator.write_markers()

    assert coordinator.state is State.COMPLETE_ABORT
    assert coordinator.init() == (102, 0)
