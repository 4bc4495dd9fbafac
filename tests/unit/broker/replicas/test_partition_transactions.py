"""Transactions in one partition: guards that let the first batch in, and the markers that end them."""

import pytest

from andiron.broker.replicas.partition import Marker
from andiron.model.errors import ErrorCode
from andiron.records.builder import build
from andiron.records.record import Record
from unit.broker.hosting import hosted, leading, produce, refusal


def of_transaction(sequence=0, epoch=0, producer_id=7):
    return {
        "producer_id": producer_id, "producer_epoch": epoch, "base_sequence": sequence, "transactional": True,
    }  # fmt: skip


def begin(partition, sequence=0, epoch=0):
    """The first batch of a transaction, about which the coordinator was asked."""
    guard = partition.guards.begin(7, epoch, sequence)
    records = build([Record(0, 0, None, b"x")], **of_transaction(sequence, epoch))
    return partition.append(memoryview(records), -1, 12, 0, guard)


def marker(epoch=0, version=0, committed=True, producer_id=7, coordinator_epoch=0):
    return Marker(producer_id, epoch, committed, coordinator_epoch, version)


def test_a_transaction_is_opened_by_its_first_batch_and_not_by_those_after_it():
    partition = leading()
    assert partition.opens_transaction(7, 0)

    begin(partition)

    assert not partition.opens_transaction(7, 0)
    assert partition.opens_transaction(8, 0), "another producer"
    assert partition.opens_transaction(7, 1), "another transaction, if each has an epoch"


def test_after_its_end_the_next_one_is_to_be_opened():
    partition = leading()
    begin(partition)

    partition.append_marker(marker(), 0)

    assert partition.opens_transaction(7, 0)


def test_a_producer_known_from_elsewhere_opens_its_transaction_with_the_first_batch_of_it():
    partition = leading()
    produce(partition, producer_id=7, producer_epoch=0, base_sequence=0)

    assert partition.opens_transaction(7, 0)


def test_a_first_batch_without_a_guard_is_refused():
    partition = leading()

    assert refusal(produce, partition, **of_transaction()) is ErrorCode.INVALID_TXN_STATE
    assert partition.log.end == 0


def test_a_first_batch_with_its_guard_is_taken_and_holds_back_what_is_stable():
    partition = leading()

    begin(partition)

    assert (partition.readable_end(False), partition.readable_end(True)) == (1, 0)
    assert len(partition.guards) == 0


def test_batches_after_the_first_need_no_guard():
    partition = leading()
    begin(partition)

    assert produce(partition, **of_transaction(sequence=1)).base_offset == 1


def test_a_guard_that_a_marker_came_after_counts_no_more():
    partition = leading()
    guard = partition.guards.begin(7, 0, 0)

    partition.append_marker(marker(), 0)
    records = memoryview(build([Record(0, 0, None, b"x")], **of_transaction()))

    assert refusal(partition.append, records, -1, 12, 0, guard) is ErrorCode.INVALID_TXN_STATE


def test_a_guard_outlives_a_marker_that_is_refused_or_was_here_before():
    partition = leading()
    partition.append_marker(marker(epoch=3, version=2), 0)
    guard = partition.guards.begin(7, 3, 0)

    assert refusal(partition.append_marker, marker(epoch=2), 0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.append_marker(marker(epoch=3, version=2), 0) is None

    partition.guards.check(7, guard)


def test_of_a_producer_not_known_here_a_later_batch_waits_for_the_first_it_sent():
    partition = leading()
    partition.guards.begin(7, 0, 0)

    assert refusal(begin, partition, sequence=3) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert begin(partition, sequence=0).base_offset == 0


@pytest.mark.parametrize("committed", [True, False])
def test_a_marker_ends_the_transaction(committed):
    partition = leading()
    begin(partition)

    written = partition.append_marker(marker(committed=committed), 0)

    assert (written.base_offset, written.end, partition.readable_end(True)) == (1, 2, 2)


def test_a_classic_marker_is_written_as_often_as_it_comes():
    partition = leading()
    begin(partition)

    ends = [partition.append_marker(marker(), 0).end for _ in range(3)]

    assert ends == [2, 3, 4]


def test_a_marker_with_an_epoch_of_its_own_is_written_once():
    partition = leading()
    begin(partition)

    written = [partition.append_marker(marker(epoch=1, version=2), 0) for _ in range(3)]

    assert [each is not None for each in written] == [True, False, False]
    assert partition.log.end == 2


def test_a_marker_that_comes_again_does_not_end_the_transaction_after_it():
    partition = leading()
    begin(partition)
    partition.append_marker(marker(epoch=1, version=2), 0)
    begin(partition, epoch=1)

    late = marker(epoch=1, version=2)

    assert refusal(partition.append_marker, late, 0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert partition.readable_end(True) == 2


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize(
    ("which", "code"),
    [
        ({"producer_id": -1}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ({"producer_id": -5}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ({"epoch": -1}, ErrorCode.INVALID_PRODUCER_EPOCH),
        ({"epoch": -7}, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_a_marker_of_nobody_is_refused_and_not_written(which, code, version):
    partition = leading()

    assert refusal(partition.append_marker, marker(version=version, **which), 0) is code
    assert partition.log.end == 0


def test_a_marker_of_an_older_epoch_or_coordinator_is_refused():
    partition = leading()
    partition.append_marker(marker(epoch=4, coordinator_epoch=2), 0)

    assert refusal(partition.append_marker, marker(epoch=3), 0) is ErrorCode.INVALID_PRODUCER_EPOCH
    older = marker(epoch=4, coordinator_epoch=1)
    assert refusal(partition.append_marker, older, 0) is ErrorCode.TRANSACTION_COORDINATOR_FENCED


@pytest.mark.parametrize("version", [0, 2])
def test_a_partition_that_is_led_elsewhere_takes_no_marker(version):
    partition = hosted()

    code = refusal(partition.append_marker, marker(version=version), 0)

    assert code is ErrorCode.NOT_LEADER_OR_FOLLOWER
