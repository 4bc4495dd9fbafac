"""What may be said in which phase, and what is said."""

from __future__ import annotations

import pytest

from andiron.client.core.outbox import NOBODY, ProducerIdentity
from andiron.client.core.transaction import InitiatedIdentity, Phase, TransactionState
from andiron.model.errors import ErrorCode, Fenced, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.wire.messages.end_txn import EndTxnRequest
from andiron.wire.messages.init_producer_id import InitProducerIdResponse

P0, P1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
ME, PREPARED = ProducerIdentity(7, 2), ProducerIdentity(5, 1)
GIVEN = InitProducerIdResponse(producer_id=7, producer_epoch=2)


def ready() -> TransactionState:
    course = TransactionState("tx")
    course.initiated(GIVEN)
    return course


def opened() -> TransactionState:
    course = ready()
    course.begin()
    return course


def written() -> TransactionState:
    course = opened()
    course.added([P0])
    return course


def refused(error: pytest.ExceptionInfo[ProtocolError]) -> ErrorCode:
    return error.value.code


def test_a_newcomer_names_no_identity_and_a_holder_its_own() -> None:
    course = TransactionState("tx")
    newcomer = course.initiate(1000, None, two_phase=False, keep_prepared=False)
    holder = course.initiate(1000, ME, two_phase=True, keep_prepared=True)

    assert (newcomer.transactional_id, newcomer.transaction_timeout_ms) == ("tx", 1000)
    assert (newcomer.producer_id, newcomer.producer_epoch) == NOBODY
    assert (holder.producer_id, holder.producer_epoch) == ME
    assert (newcomer.enable_2pc, newcomer.keep_prepared_txn) == (False, False)
    assert (holder.enable_2pc, holder.keep_prepared_txn) == (True, True)


def test_an_identity_makes_it_ready() -> None:
    course = TransactionState("tx")

    assert course.initiated(GIVEN) == InitiatedIdentity(ME, None)
    assert (course.phase, course.identity) == (Phase.READY, ME)


def test_one_that_was_prepared_can_only_be_ended() -> None:
    course = TransactionState("tx")
    kept = InitProducerIdResponse(0, 0, *ME, *PREPARED)

    assert course.initiated(kept) == InitiatedIdentity(ME, PREPARED)
    with pytest.raises(ProtocolError, match="was prepared by another"):
        course.begin()
    with pytest.raises(ProtocolError, match="was prepared by another"):
        course.check_open()
    assert course.end(commit=True) == EndTxnRequest("tx", *ME, True)


def test_nothing_is_written_before_it_is_begun() -> None:
    with pytest.raises(ProtocolError, match="has no identity yet") as caught:
        TransactionState("tx").begin()
    assert refused(caught) is ErrorCode.INVALID_TXN_STATE
    with pytest.raises(ProtocolError, match="is not begun; it cannot be written to"):
        ready().add([P0])


def test_partitions_are_added_once() -> None:
    course = written()

    assert course.missing([P0, P1]) == [P1]


def test_partitions_are_told_by_topic() -> None:
    request = opened().add([P0, U0, P1])

    assert (request.v3_and_below_producer_id, request.v3_and_below_producer_epoch) == ME
    assert [(each.name, each.partitions) for each in request.v3_and_below_topics] == [
        ("t", [0, 1]),
        ("u", [0]),
    ]


def test_a_group_is_added_once() -> None:
    course = opened()
    request = course.add_group("g")
    course.added_group("g")

    assert request is not None
    assert request.group_id == "g"
    assert course.add_group("g") is None


def test_offsets_go_with_their_metadata() -> None:
    request = opened().offsets("g", {P0: (17, "batch 3"), U0: (4, "")})

    assert (request.transactional_id, request.group_id, request.producer_id) == ("tx", "g", 7)
    rows = [(topic.name, each) for topic in request.topics for each in topic.partitions]
    assert [(name, each.committed_offset, each.committed_metadata) for name, each in rows] == [
        ("t", 17, "batch 3"),
        ("u", 4, ""),
    ]


@pytest.mark.parametrize("commit", [True, False])
def test_its_end_is_told_where_something_was_added(commit: bool) -> None:
    course = written()

    assert course.end(commit=commit) == EndTxnRequest("tx", *ME, commit)
    course.ended()
    assert course.phase is Phase.ENDED


def test_a_group_alone_is_something() -> None:
    course = opened()
    course.added_group("g")

    assert course.end(commit=True) is not None


def test_of_an_empty_one_the_coordinator_does_not_hear() -> None:
    assert opened().end(commit=True) is None


def test_one_that_was_begun_elsewhere_is_ended_in_any_case() -> None:
    course = TransactionState("tx")
    course.resume(ME)

    assert course.phase is Phase.OPEN
    assert course.end(commit=True) == EndTxnRequest("tx", *ME, True)


def test_what_was_not_begun_is_not_ended() -> None:
    with pytest.raises(ProtocolError, match="is not begun; it cannot be committed"):
        ready().end(commit=True)


def test_a_new_identity_has_nothing_in_it() -> None:
    course = written()
    course.ended()
    course.initiated(GIVEN)
    course.begin()

    assert course.missing([P0]) == [P0]
    assert course.end(commit=True) is None


def test_what_failed_is_only_aborted() -> None:
    course = written()
    course.fail(ValueError("a batch was too large"))

    with pytest.raises(ProtocolError, match=r"can only be aborted; it cannot be committed \(a batch was too"):
        course.end(commit=True)
    with pytest.raises(ProtocolError, match="can only be aborted"):
        course.check_open()
    assert course.end(commit=False) is not None


def test_a_failure_outside_of_a_transaction_is_none_of_it() -> None:
    course = ready()
    course.fail(ValueError())

    assert course.phase is Phase.READY


def test_who_is_fenced_does_nothing_more() -> None:
    course = written()
    course.fail(ErrorCode.INVALID_PRODUCER_EPOCH.error("there is a newer one"))

    for attempt in (course.check_open, lambda: course.end(commit=False), course.begin):
        with pytest.raises(Fenced, match="another's"):
            attempt()
