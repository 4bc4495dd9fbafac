"""One transactional id: who holds it, what becomes of it, and its record."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.transactions.records import decode_record, encode_record
from andiron.transactions.states import State
from andiron.transactions.transaction import (
    BUMPING,
    CLASSIC,
    LAST_EPOCH,
    NOBODY,
    Identity,
    Transaction,
    first_of,
    tombstone,
    transaction_of,
)
from worlds.transacting import A, B, C

NOW = Millis(5_000)


def at_rest(epoch: int = 3) -> Transaction:
    return Transaction("t", Identity(7, epoch), State.EMPTY, 60_000, Millis(1_000))


def ongoing(epoch: int = 3) -> Transaction:
    return at_rest(epoch).writing_to([A], BUMPING, Millis(2_000))


# ── identities ───────────────────────────────────────────────────────────────────────


def test_the_next_epoch_comes_after():
    assert Identity(7, 3).successor(-1) == (7, 4)
    assert Identity(7, LAST_EPOCH - 1).successor(-1) == (7, LAST_EPOCH)


def test_after_the_last_epoch_comes_another_producer_id():
    assert Identity(7, LAST_EPOCH).successor(8) == (8, 0)
    assert Identity(7, LAST_EPOCH + 1).successor(8) == (8, 0)


def test_without_another_producer_id_it_is_to_be_asked_again():
    with pytest.raises(ProtocolError) as error:
        first_of(-1)
    assert error.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_an_epoch_fits_the_record_whatever_comes_above_it():
    assert Identity(7, LAST_EPOCH).above() == (7, 32767)
    assert Identity(7, 32767).above() == (7, 32767)


# ── what becomes of it ───────────────────────────────────────────────────────────────


def test_the_first_partition_begins_it():
    begun = ongoing()
    more = begun.writing_to([B, A], BUMPING, NOW)

    assert (begun.state, begun.started_at) == (State.ONGOING, 2_000)
    assert (more.started_at, more.updated_at, list(more.partitions)) == (2_000, 5_000, [A, B])


def test_the_classic_end_leaves_all_identities_as_they_are():
    decided = ongoing().decided(committed=True, now=NOW)

    assert (decided.state, decided.producer, decided.holder) == (State.PREPARE_COMMIT, (7, 3), (7, 3))
    assert decided.version == CLASSIC
    assert decided.completed(NOW).holder == (7, 3)


def test_the_markers_of_version_2_have_the_epoch_that_the_holder_gets():
    decided = ongoing().decided_for(Identity(7, 4), committed=True, previous_id=7, now=NOW)

    assert (decided.producer, decided.next, decided.holder) == ((7, 4), NOBODY, (7, 4))
    assert decided.completed(NOW).producer == (7, 4)


def test_a_holder_with_another_producer_id_waits_in_next():
    decided = ongoing(LAST_EPOCH).decided_for(Identity(8, 0), committed=False, previous_id=7, now=NOW)

    assert (decided.producer, decided.next, decided.holder) == ((7, 32767), (8, 0), (8, 0))
    complete = decided.completed(NOW)
    assert (complete.producer, complete.next, complete.state) == ((8, 0), NOBODY, State.COMPLETE_ABORT)
    assert complete.was_held_by(Identity(7, LAST_EPOCH))


def test_what_is_handed_over_is_held_by_another_and_written_as_before():
    kept = ongoing().handed_over(Identity(7, 4), -1, 60_000, NOW)

    assert (kept.producer, kept.holder, kept.is_handed_over) == ((7, 3), (7, 4), True)
    assert not ongoing().is_handed_over


def test_a_prepared_transaction_cannot_be_renewed():
    decided = ongoing().decided(committed=True, now=NOW)

    with pytest.raises(AssertionError, match="PrepareCommit does not become Empty"):
        decided.renewed(Identity(7, 4), -1, 60_000, NOW)


# ── who asks again ───────────────────────────────────────────────────────────────────


def test_a_holder_that_was_given_the_next_epoch_may_not_have_heard():
    renewed = at_rest().renewed(Identity(7, 4), 7, 60_000, NOW)

    assert renewed.was_held_by(Identity(7, 3))
    assert not renewed.was_held_by(Identity(7, 2))
    assert not renewed.was_held_by(Identity(6, 3))


def test_a_holder_that_was_driven_out_is_out():
    assert not at_rest().renewed(Identity(7, 4), -1, 60_000, NOW).was_held_by(Identity(7, 3))


def test_nobody_was_before_the_holder_who_began_a_transaction():
    renewed = at_rest().renewed(Identity(7, 4), 7, 60_000, NOW)

    assert not renewed.writing_to([A], BUMPING, NOW).was_held_by(Identity(7, 3))


def test_nobody_was_before_the_holder_who_ended_one_the_classic_way():
    decided = at_rest().renewed(Identity(7, 4), 7, 60_000, NOW).writing_to([A], CLASSIC, NOW)
    complete = decided.decided(committed=True, now=NOW).completed(NOW)

    assert not complete.was_held_by(Identity(7, 3))


# ── as a record ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "transaction",
    [
        at_rest(),
        ongoing().writing_to([C, B], BUMPING, NOW),
        ongoing().handed_over(Identity(7, 4), -1, 60_000, NOW),
        ongoing().handed_over(Identity(9, 0), 7, (1 << 31) - 1, NOW),
        ongoing().decided_for(Identity(8, 0), committed=True, previous_id=7, now=NOW),
        ongoing().decided(committed=False, now=NOW).completed(NOW),
    ],
    ids=lambda each: each.state.title,
)
def test_its_record_says_it_all(transaction):
    record = decode_record(*encode_record(transaction.record()))

    assert record is not None and record.value is not None
    assert transaction_of(record.transactional_id, record.value) == transaction


def test_an_empty_one_has_no_list_of_partitions_and_a_complete_one_an_empty_list():
    assert at_rest().record().value.transaction_partitions is None
    assert (
        ongoing().decided(committed=True, now=NOW).completed(NOW).record().value.transaction_partitions == []
    )


def test_kafka_leaves_out_the_next_epoch_when_it_is_the_first():
    value = ongoing().decided_for(Identity(8, 0), committed=True, previous_id=7, now=NOW).record().value
    value.next_producer_epoch = -1

    assert transaction_of("t", value).holder == (8, 0)


@pytest.mark.parametrize("number", [-1, 6, 7, 8])
def test_a_state_that_no_record_has_is_corrupt(number):
    value = at_rest().record().value
    value.transaction_status = number

    with pytest.raises(ProtocolError) as error:
        transaction_of("t", value)
    assert error.value.code is ErrorCode.CORRUPT_MESSAGE


def test_a_tombstone_has_no_value():
    assert encode_record(tombstone("t")) == (b"\0\0\0\1t", None)
