from __future__ import annotations

import pytest

from andiron.log import scan
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.sim.disk import MemoryDisk
from unit.log.logs import batch_of


def file_of(*batches, rest=b""):
    file = MemoryDisk().open("x.log")
    for batch in batches:
        file.append(batch)
    file.append(rest)
    return file


def batches_at(*bases, **how):
    return [batch_of(10, base_offset=base, **how) for base in bases]


def corrupt(action):
    with pytest.raises(ProtocolError) as refused:
        action()
    return refused.value.code is ErrorCode.CORRUPT_MESSAGE


def test_headers_and_batches_go_through_everything():
    batches = batches_at(0, 10, 20)
    file = file_of(*batches)
    size = len(batches[0])
    assert [(p, b.base_offset) for p, b in scan.headers(file, 0, file.size)] == [
        (0, 0),
        (size, 10),
        (2 * size, 20),
    ]
    assert [bytes(b.raw) for b in scan.batches(file, size, file.size)] == list(map(bytes, batches[1:]))


def test_batches_larger_than_a_chunk_come_whole():
    batches = [batch_of(1, base_offset=i, value=bytes(i * 700_000)) for i in range(5)]
    file = file_of(*batches)
    assert [bytes(b.raw) for b in scan.batches(file, 0, file.size)] == list(map(bytes, batches))
    assert [b.size for _, b in scan.headers(file, 0, file.size)] == list(map(len, batches))


@pytest.mark.parametrize("cut", [1, 30, 60, 61, 100])
def test_a_torn_batch_at_the_end_is_corrupt(cut):
    batches = batches_at(0, 10)
    file = file_of(batches[0], rest=batches[1][:cut])
    assert corrupt(lambda: list(scan.headers(file, 0, file.size)))
    assert corrupt(lambda: list(scan.batches(file, 0, file.size)))
    if cut < 27:  # the walk sees the offsets, which are whole
        assert corrupt(lambda: scan.walk_to(file, 15, 0, file.size))


def test_zeros_are_no_batch():
    file = file_of(*batches_at(0), rest=bytes(300))
    assert corrupt(lambda: list(scan.headers(file, 0, file.size)))
    assert corrupt(lambda: scan.walk_to(file, 15, 0, file.size))
    assert corrupt(lambda: scan.last_end(file, 0, file.size, first=True))
    assert corrupt(lambda: scan.place_at(file, len(batches_at(0)[0])))
    assert corrupt(lambda: scan.place_at(file, file.size - 5))


def test_message_sets_are_of_another_format():
    old = batches_at(0)[0]
    old[16] = 1
    with pytest.raises(ProtocolError) as refused:
        list(scan.batches(file_of(old), 0, len(old)))
    assert refused.value.code is ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


def test_a_walk_ends_at_the_batch_that_holds_the_offset():
    batches = batches_at(*range(0, 2000, 10))
    file, size = file_of(*batches), len(batches[0])
    for offset in (0, 9, 10, 1234, 1999):
        assert scan.walk_to(file, offset, 0, file.size) == offset // 10 * size
    assert scan.walk_to(file, 2000, 0, file.size) == file.size
    assert scan.walk_to(file, 57, 3 * size, file.size) == 5 * size


def test_a_walk_that_begins_beyond_its_goal_was_misled():
    batches = batches_at(0, 10, 20)
    file = file_of(*batches)
    assert corrupt(lambda: scan.walk_to(file, 5, 2 * len(batches[0]), file.size))


def test_a_walk_that_begins_behind_the_file_was_misled_too():
    file = file_of(batch_of(2), batch_of(3, base_offset=2))
    with pytest.raises(ProtocolError, match="no batch at byte 5000"):
        scan.walk_to(file, 3, 5_000, file.size)


def test_place_tells_offsets_and_size():
    batches = batches_at(0, 10)
    assert scan.place_at(file_of(*batches), len(batches[0])) == (10, 19, len(batches[1]))


def test_the_last_end_is_that_of_a_whole_batch():
    batches = batches_at(*range(0, 2000, 10))
    file, size = file_of(*batches), len(batches[0])
    assert scan.last_end(file, 0, 5 * size, first=False) == 5 * size
    assert scan.last_end(file, 0, 5 * size - 1, first=False) == 4 * size
    assert scan.last_end(file, 2 * size, 90 * size + 7, first=False) == 90 * size


def test_the_first_batch_counts_if_asked_for_however_large():
    batches = batches_at(0, 10)
    file, size = file_of(*batches), len(batches[0])
    assert scan.last_end(file, 0, 10, first=True) == size
    assert scan.last_end(file, 0, 10, first=False) == 0
    assert scan.last_end(file, size, size, first=True) == 2 * size


def test_the_tail_goes_on_from_what_came_before():
    batches = batches_at(10, 20, 30)
    file, size = file_of(*batches), len(batches[0])
    assert [b.base_offset for b in scan.tail(file, size, file.size, after=19, upto=29)] == [20, 30]
    assert corrupt(lambda: list(scan.tail(file, size, file.size, after=20, upto=29)))
    assert corrupt(lambda: list(scan.tail(file, size, file.size, after=19, upto=40)))
    assert list(scan.tail(file, file.size, file.size, after=39, upto=39)) == []
