"""First writes of transactions, and the question that has to be asked before."""

import pytest

from andiron.broker.replicas.verification_guards import VerificationGuards
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record


def batch(sequence, epoch=0, producer_id=7):
    return Batch(
        build(
            [Record(0, 0, b"k", b"v")],
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=True,
        )
    )


def code_of(check, *given):
    with pytest.raises(ProtocolError) as caught:
        check(*given)
    return caught.value.code


def test_a_write_about_which_nobody_was_asked_is_refused():
    guards = VerificationGuards()

    assert code_of(guards.check, 7, None) is ErrorCode.INVALID_TXN_STATE


def test_a_question_that_was_asked_lets_its_producer_through():
    guards = VerificationGuards()
    guard = guards.begin(7, 0, 0)

    guards.check(7, guard)
    guards.check_turn(batch(0), guard)


def test_a_marker_in_between_makes_the_question_worthless():
    guards = VerificationGuards()
    guard = guards.begin(7, 0, 0)

    guards.end(7)

    assert code_of(guards.check, 7, guard) is ErrorCode.INVALID_TXN_STATE
    assert len(guards) == 0


def test_batches_of_one_producer_share_a_question_until_its_epoch_changes():
    guards = VerificationGuards()
    guard = guards.begin(7, 0, 0)

    assert guards.begin(7, 0, 5) is guard
    assert guards.begin(7, 1, 0) is not guard


def test_one_that_was_replaced_leaves_the_question_of_its_successor_alone():
    guards = VerificationGuards()
    old = guards.begin(7, 0, 0)
    new = guards.begin(7, 1, 0)
    late = guards.begin(7, 0, 0)

    guards.end(7, old)
    guards.end(7, late)

    guards.check(7, new)
    assert code_of(guards.check, 7, late) is ErrorCode.INVALID_TXN_STATE


def test_of_a_producer_not_known_here_the_first_batch_must_come_first():
    guards = VerificationGuards()
    guards.begin(7, 0, 0)
    guard = guards.begin(7, 0, 3)

    assert code_of(guards.check_turn, batch(3), guard) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    guards.check_turn(batch(0), guard)


def test_a_question_from_before_another_broker_led_is_asked_again_and_not_held_against_the_producer():
    guard = VerificationGuards().begin(7, 0, 0)

    assert code_of(VerificationGuards().check, 7, guard) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_what_was_asked_about_a_producer_that_never_came_back_is_forgotten():
    guards = VerificationGuards()
    guards.begin(7, 0, 0, now=100)
    kept = guards.begin(8, 0, 0, now=100)
    guards.begin(8, 0, 1, now=900)

    guards.expire(1_000, 500)

    assert len(guards) == 1
    guards.check(8, kept)
