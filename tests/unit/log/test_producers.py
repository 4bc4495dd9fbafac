from __future__ import annotations

import pytest

from andiron.log.abort_index import AbortedTransaction
from andiron.log.producers import REMEMBERED_BATCHES, Producers
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NO_TIMESTAMP
from andiron.records.batch import Batch
from andiron.records.control import ControlType, control_batch, end_marker
from unit.log.logs import batch_of

LAST = (1 << 31) - 1


def data(sequence, count=1, *, producer=7, epoch=0, transactional=False):
    return Batch(
        batch_of(
            count,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=transactional,
        )
    )


def marker(committed, *, producer=7, epoch=0, coordinator_epoch=0):
    return Batch(
        end_marker(
            committed,
            producer_id=producer,
            producer_epoch=epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp=5,
        )
    )


def replay(producers, *batches, start=0):
    """Append these one after the other; returns what the last one aborted."""
    aborted = None
    for batch in batches:
        aborted = producers.replay(batch, start, batch.max_timestamp)
        start += batch.last_offset_delta + 1
    return aborted


def knowing(*batches, start=0):
    producers = Producers()
    replay(producers, *batches, start=start)
    return producers


def refusal(producers, batch):
    with pytest.raises(ProtocolError) as refused:
        producers.check(batch)
    return refused.value.code


def test_an_unknown_producer_may_begin_anywhere():
    assert Producers().check(data(17)) is None


def test_the_next_sequence_is_taken():
    assert knowing(data(0, 5)).check(data(5)) is None


@pytest.mark.parametrize("sequence", [0, 4, 6, LAST])
def test_a_sequence_out_of_turn_is_refused(sequence):
    assert refusal(knowing(data(0, 5)), data(sequence)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_each_of_the_last_five_batches_is_known_again():
    batches = [data(3 * i, 3) for i in range(REMEMBERED_BATCHES + 1)]
    producers = knowing(*batches, start=100)
    assert [producers.check(batch).first_offset for batch in batches[1:]] == [103, 106, 109, 112, 115]
    assert producers.check(batches[-1]).last_offset == 117
    assert refusal(producers, batches[0]) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_must_match_exactly():
    assert refusal(knowing(data(0, 5)), data(0, 4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_to_zero():
    producers = knowing(data(LAST - 1, 2))
    assert producers.check(data(0)) is None
    assert producers.check(data(LAST - 1, 2)).last_sequence == LAST


def test_a_batch_may_wrap_within():
    producers = knowing(data(LAST, 3))
    assert producers.get(7).next_sequence == 2
    assert producers.check(data(LAST, 3)).first_sequence == LAST


def test_a_lower_epoch_is_fenced():
    assert refusal(knowing(data(0, epoch=3)), data(1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_higher_epoch_begins_at_zero():
    producers = knowing(data(0, 5, epoch=3))
    assert refusal(producers, data(5, epoch=4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producers.check(data(0, epoch=4)) is None
    replay(producers, data(0, epoch=4), start=5)
    assert refusal(producers, data(0, 5, epoch=3)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_after_a_marker_of_a_higher_epoch_zero_comes_next():
    producers = knowing(data(0, 5, transactional=True), marker(True, epoch=1))
    assert refusal(producers, data(5, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producers.check(data(0, epoch=1)) is None


def test_what_a_coordinator_writes_has_no_sequence_to_check():
    producers = knowing(data(0, 5, transactional=True))
    assert producers.check(data(-1, transactional=True)) is None


def test_one_producer_says_nothing_of_another():
    assert knowing(data(0, 5)).check(data(9, producer=8)) is None


def test_silent_producers_are_forgotten_in_time():
    producers = knowing(data(0), data(0, producer=8))
    assert producers.expire(1_000, 4_000) == 0
    producers.replay(data(1, producer=8), 2, 0)
    assert producers.expire(4_999, 4_000) == 0
    assert producers.expire(5_000, 4_000) == 1
    assert producers.get(7) is None
    assert len(producers) == 1


@pytest.mark.parametrize("timestamp", [NO_TIMESTAMP, 0, 1 << 50])
def test_a_producer_that_writes_is_not_forgotten_whatever_the_time_of_its_records(timestamp: int):
    """Or a batch that it sends again is written twice."""
    producers = Producers()
    for sequence, now in enumerate(range(1 << 40, (1 << 40) + 50_000, 1_000)):
        producers.replay(data(sequence), sequence, timestamp)
        assert producers.expire(now, 4_000) == 0
    assert producers.check(data(49)) is not None


# ── transactions ─────────────────────────────────────────────────────────────────────


def test_what_is_decided_ends_before_the_oldest_open_transaction():
    producers = knowing(data(0, 5), data(5, transactional=True), data(0, producer=8, transactional=True))
    assert producers.last_stable(7) == 5
    replay(producers, marker(True), start=7)
    assert producers.last_stable(8) == 6
    replay(producers, marker(True, producer=8), start=8)
    assert producers.last_stable(9) == 9


def test_an_ended_transaction_is_undecided_until_its_marker_is_committed():
    producers = knowing(data(0, 5, transactional=True), marker(True))
    assert producers.last_stable(3) == 0
    assert producers.last_stable(5) == 0
    assert producers.last_stable(6) == 6


def test_an_abort_tells_what_it_ended_and_what_is_stable_then():
    producers = knowing(data(0, 5, transactional=True), data(0, producer=8, transactional=True))
    assert replay(producers, marker(False), start=6) == AbortedTransaction(7, 0, 6, 5)
    assert replay(producers, marker(False, producer=8), start=7) == AbortedTransaction(8, 5, 7, 8)


def test_a_commit_aborts_nothing_nor_does_a_marker_without_a_transaction():
    assert replay(knowing(data(0, transactional=True)), marker(True), start=1) is None
    assert replay(Producers(), marker(False)) is None


def test_writing_outside_of_an_open_transaction_is_refused():
    assert refusal(knowing(data(0, transactional=True)), data(1)) is ErrorCode.INVALID_TXN_STATE


def test_a_marker_of_a_lower_epoch_is_fenced():
    producers = knowing(data(0, epoch=3, transactional=True))
    assert refusal(producers, marker(True, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_an_older_coordinator_is_fenced():
    producers = knowing(data(0, transactional=True), marker(True, coordinator_epoch=5))
    assert refusal(producers, marker(True, coordinator_epoch=4)) is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert producers.check(marker(True, coordinator_epoch=5)) is None


def test_a_producer_in_a_transaction_is_not_forgotten():
    producers = knowing(data(0, transactional=True))
    assert producers.expire(0, 1) == producers.expire(1 << 40, 1) == 0


def test_control_records_of_other_kinds_end_nothing():
    producers = knowing(data(0, transactional=True))
    other = Batch(
        control_batch([(ControlType.LEADER_CHANGE, b"")], timestamp=0, producer_id=7, producer_epoch=0)
    )
    assert producers.check(other) is None
    assert replay(producers, other, start=1) is None
    assert producers.last_stable(2) == 0


def test_of_what_was_ended_nothing_is_kept_once_its_marker_is_committed():
    producers = Producers()
    for number in range(1_000):
        first = data(number, transactional=True)
        replay(producers, first, marker(True), start=2 * number)
        producers.committed(2 * number - 3)

    assert len(producers.unreplicated) == 3
    assert producers.last_stable(1_995) == 1_994
    producers.committed(2_000)
    assert producers.unreplicated == {}
    assert producers.last_stable(2_000) == 2_000


def test_to_ask_what_is_stable_changes_nothing():
    producers = knowing(data(0, transactional=True), marker(True))

    assert (producers.last_stable(2), producers.last_stable(1)) == (2, 0)
