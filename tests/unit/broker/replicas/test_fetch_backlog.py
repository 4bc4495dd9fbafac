"""What was fetched is taken in some at a time: whole batches, in order, within a budget of bytes and of batches."""

import pytest

from andiron.broker.replicas import fetch_backlog
from andiron.broker.replicas.fetch_backlog import FetchBacklog, Piece
from andiron.records.batch import iterate
from andiron.wire.messages.fetch import PartitionData
from unit.log.logs import append, batch_of, open_log

SIZE = len(batch_of(1))


def records(count, **how):
    log = open_log()
    for _ in range(count):
        append(log, 1, **how)
    return memoryview(bytearray(log.read(0, 1 << 30, log.end).read()))


def waiting(*pieces):
    filled = FetchBacklog()
    for number, each in enumerate(pieces):
        filled.put(Piece((b"t" * 16, number), 1, PartitionData(number), each))
    return filled


def step(of, bytes_max):
    """What one step takes: the partition, the offsets of its batches, and whether it goes on."""
    of.begin(bytes_max)
    taken = []
    while (piece := of.take()) is not None:
        offsets = [batch.base_offset for batch in iterate(piece.records)]
        taken.append((piece.key[1], offsets, piece.goes_on))
    of.end()
    return taken


def test_a_small_answer_is_taken_at_once():
    assert step(waiting(records(2), b"", records(1)), 1 << 20) == [
        (0, [0, 1], False),
        (1, [], False),
        (2, [0], False),
    ]


def test_a_large_one_in_as_many_steps_as_it_takes():
    left = waiting(records(5), records(1))
    assert step(left, 2 * SIZE) == [(0, [0, 1], False)]
    assert left
    assert step(left, 2 * SIZE) == [(0, [2, 3], True)]
    assert step(left, 2 * SIZE) == [(0, [4], True), (1, [0], False)]
    assert not left
    assert step(left, 2 * SIZE) == []


def test_one_batch_comes_however_large_it_is():
    left = waiting(records(2))
    assert [step(left, 1), step(left, 1)] == [[(0, [0], False)], [(0, [1], True)]]


def test_many_small_batches_count_as_much_as_many_bytes(monkeypatch):
    monkeypatch.setattr(fetch_backlog, "BATCHES_AT_ONCE", 3)
    left = waiting(records(2), records(3))
    assert step(left, 1 << 20) == [(0, [0, 1], False), (1, [0], False)]
    assert step(left, 1 << 20) == [(1, [1, 2], True)]


def test_what_waits_for_the_next_step_is_not_of_the_frame():
    frame = records(3)
    left = waiting(frame)
    step(left, SIZE)
    frame[:] = b"\xdd" * len(frame)
    assert step(left, 1 << 20) == [(0, [1, 2], True)]


@pytest.mark.parametrize("tail", [b"", b"torn", records(1)[: SIZE - 1]])
def test_a_part_of_a_batch_at_the_end_goes_with_the_last_whole_one(tail):
    left = waiting(bytes(records(2)) + bytes(tail))
    left.begin(1 << 20)
    assert len(left.take().records) == 2 * SIZE + len(tail)
    assert left.take() is None


def test_what_is_no_batch_is_for_the_log_to_refuse():
    left = waiting(bytes(40))
    left.begin(10)
    assert left.take().records == bytes(40)


def test_with_a_piece_that_is_not_wanted_goes_what_goes_on_from_it():
    left = waiting(records(3), records(1))
    left.begin(SIZE)
    left.take()
    left.drop_rest()
    left.drop_rest()
    assert step(left, SIZE) == [(1, [0], False)]
