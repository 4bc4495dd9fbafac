"""Where records lie: a fetch answer is not copied, a packed batch is unpacked once."""

from __future__ import annotations

import pytest

from andiron.columns.bodies import COLUMNS, bodies_of
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build, retain
from andiron.records.record import Record, contents

END = 1 << 62


def raw(base, codec=0, **how):
    return bytes(
        build([Record(0, 100 + n, b"k", b"v" * 50) for n in range(3)], base_offset=base, codec=codec, **how)
    )


def rows(bodies):
    table = bodies.table.tolist()
    return [tuple(table[at : at + COLUMNS]) for at in range(0, len(table), COLUMNS)]


def test_batches_side_by_side_have_one_source():
    one, two = raw(0), raw(3)
    answer = one + two

    bodies = bodies_of(list(iterate(answer)), 0, END)

    assert bodies.sources == [answer]
    assert bodies.sources[0] is answer
    assert rows(bodies) == [
        (0, 61, len(one), 0, 2, 100, 0, 3),
        (0, len(one) + 61, len(answer), 3, 2, 100, 0, 3),
    ]


def test_a_packed_batch_is_a_source_of_its_own():
    packed = Batch(raw(3, codec=4))
    answer = raw(0) + bytes(packed.raw) + raw(6)

    bodies = bodies_of(list(iterate(answer)), 0, END)

    assert bodies.sources == [answer, contents(packed)]
    assert [row[0] for row in rows(bodies)] == [0, 1, 0]


def test_append_time_takes_the_place_of_what_is_counted_from():
    bodies = bodies_of([Batch(raw(0, timestamp_type=1, max_timestamp=777))], 0, END)

    assert rows(bodies)[0][5:] == (777, 1, 3)


def test_batches_without_anything_wanted_are_left_out():
    batches = list(iterate(raw(0) + raw(3) + raw(6)))

    assert [row[3] for row in rows(bodies_of(batches, 3, 6))] == [3]
    assert [row[3] for row in rows(bodies_of(batches, 2, 7))] == [0, 3, 6]
    assert rows(bodies_of([Batch(retain(batches[0], b"", []))], 0, END)) == []


def test_what_does_not_unpack_is_corrupt():
    broken = bytearray(raw(0, codec=1))
    broken[70:] = bytes(len(broken) - 70)

    with pytest.raises(ProtocolError) as caught:
        bodies_of([Batch(broken)], 0, END)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_offsets_beyond_the_last_there_is_are_corrupt():
    with pytest.raises(ProtocolError, match="CORRUPT_MESSAGE"):
        bodies_of([Batch(raw((1 << 63) - 2))], 0, (1 << 63) - 1)


def test_more_than_arrow_can_count_is_refused():
    batch = Batch(raw(0))
    batch.size = 1 << 30

    with pytest.raises(ProtocolError, match="fewer at once"):
        bodies_of([batch] * 3, 0, END)
