"""The numpy half by itself: cuts, times, and headers wherever they lie."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from andiron.columns import pack as packing
from andiron.columns.pack import pack
from andiron.columns.rows import rows_of
from andiron.model.errors import ErrorCode, ProtocolError

NOW = 1_700_000_000_000


def packed(batch_bytes=1 << 20, indices=None, **columns):
    return pack(
        rows_of(pa.record_batch({name: pa.array(c) for name, c in columns.items()}), NOW),
        indices,
        batch_bytes,
    )


def test_a_record_is_written_behind_room_for_a_header():
    (batch,) = packed(key=[b"k"], value=[b"v"])

    assert bytes(batch.data) == bytes(61) + b"\x10\x00\x00\x00\x02k\x02v\x00"
    assert batch[1:] == (1, NOW, NOW)


def test_batches_are_as_full_as_can_be():
    batches = packed(value=[b"v" * 23] * 7, batch_bytes=61 + 3 * 30)

    assert [batch.records for batch in batches] == [3, 3, 1]
    assert len(batches[0].data) == 61 + 3 * 30
    assert [batch.records for batch in packed(value=[b"v" * 23] * 7, batch_bytes=61 + 3 * 30 - 1)] == [
        2,
        2,
        2,
        1,
    ]


def test_longer_deltas_count():
    """From the 65th record on, an offset takes two bytes."""
    batches = packed(value=[b""] * 200, batch_bytes=61 + 64 * 7 + 8)

    assert [batch.records for batch in batches] == [65, 65, 65, 5]


def test_the_times_of_a_batch_are_its_first_and_its_latest():
    times = pa.array([5_999, 9_000, None, -1], pa.timestamp("us"))

    (batch,) = packed(value=[b""] * 4, timestamp=times)

    assert batch[2:] == (5, NOW)
    assert [each[2:] for each in packed(value=[b""] * 4, timestamp=times, batch_bytes=0)] == [
        (5, 5),
        (9, 9),
        (NOW, NOW),
        (-1, -1),
    ]


def test_rows_are_chosen_by_their_place():
    (batch,) = packed(value=[b"a", b"b", b"c"], indices=np.array([2, 2, 0]))

    assert bytes(batch.data[61:]).replace(b"\0", b"") == b"\x0e\x01\x02c\x0e\x02\x01\x02c\x0e\x04\x01\x02a"
    assert packed(value=[b"a"], indices=np.array([], np.int64)) == []


def test_a_header_without_a_key_is_refused_where_it_is_chosen():
    headers = [[{"key": None, "value": b""}], [{"key": "h", "value": b""}]]

    assert len(packed(value=[b"", b""], headers=headers, indices=np.array([1]))) == 1
    with pytest.raises(ProtocolError) as caught:
        packed(value=[b"", b""], headers=headers)
    assert caught.value.code is ErrorCode.INVALID_RECORD


def test_a_record_that_no_length_can_tell_is_refused(monkeypatch):
    monkeypatch.setattr(packing, "RECORD_BYTES_MAX", 100)

    with pytest.raises(ProtocolError) as caught:
        packed(value=[b"a", b"v" * 101])
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
