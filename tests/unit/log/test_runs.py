from __future__ import annotations

import pytest

from andiron.log.runs import split
from andiron.log.segment import RELATIVE_OFFSET_MAX
from andiron.model.errors import ErrorCode, ProtocolError
from unit.log.logs import batch_of


def records(*bases):
    return b"".join(batch_of(10, base_offset=base) for base in bases)


SIZE = len(records(0))


def runs(data, end=0, *, base=0, room=100 * SIZE, segment_bytes=100 * SIZE):
    found = split(data, end, base=base, room=room, segment_bytes=segment_bytes)
    return [[batch.base_offset for batch in run.batches] for run in found]


def test_what_fits_is_one_run():
    assert runs(records(0, 10, 20)) == [[0, 10, 20]]


def test_a_run_ends_where_the_segment_is_full():
    data = records(*range(0, 70, 10))
    assert runs(data, room=2 * SIZE, segment_bytes=3 * SIZE) == [[0, 10], [20, 30, 40], [50, 60]]


def test_a_full_active_segment_gets_none_of_it():
    assert runs(records(0, 10), room=5, segment_bytes=3 * SIZE) == [[0, 10]]


def test_a_batch_larger_than_a_segment_goes_alone():
    assert runs(records(0, 10), room=5, segment_bytes=7) == [[0], [10]]


def test_offsets_that_a_segment_cannot_express_begin_another():
    far = RELATIVE_OFFSET_MAX + 5
    assert runs(records(0, far, far + 10)) == [[0], [far, far + 10]]


def test_the_data_of_a_run_are_its_batches():
    data = records(0, 10, 20)
    first, second = split(data, 0, base=0, room=SIZE, segment_bytes=9 * SIZE)
    assert bytes(first.data) == data[:SIZE]
    assert bytes(second.data) == data[SIZE:]
    assert second.places() == [(SIZE, 19, 9), (SIZE, 29, 9)]


def test_a_part_at_the_end_is_left_out():
    assert runs(records(0, 10) + records(20)[:-1]) == [[0, 10]]
    assert runs(records(0)[:30]) == []


def test_gaps_between_batches_are_fine():
    assert runs(records(5, 100), end=3) == [[5, 100]]


@pytest.mark.parametrize(("data", "end"), [(records(10), 11), (records(10, 15), 0), (records(10, 10), 0)])
def test_offsets_that_go_back_are_refused(data, end):
    with pytest.raises(ProtocolError) as refused:
        runs(data, end)
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_damaged_batch_is_refused():
    data = bytearray(records(0, 10))
    data[-1] ^= 1
    with pytest.raises(ProtocolError) as refused:
        runs(data)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE
