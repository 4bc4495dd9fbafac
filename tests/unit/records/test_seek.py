"""One record of a batch by its time, compiled and not."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records import native
from andiron.records import seek as module
from andiron.records.batch import Batch
from andiron.records.builder import build, retain
from andiron.records.record import Record, contents, keys_of
from andiron.records.seek import LATEST, seek

TIMES = [50, 70, 60, 70, -1]


@pytest.fixture(params=["compiled", "without a compiler"], autouse=True)
def _both(request, monkeypatch):
    if request.param != "compiled":
        monkeypatch.setattr(native, "seek", None)
    elif native.seek is None:
        pytest.skip("the extension was not built here")


def batch(times=TIMES, **how):
    return Batch(build([Record(0, time, b"k", bytes(200)) for time in times], base_offset=100, **how))


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize(
    ("first", "timestamp", "found"),
    [
        (0, 0, (100, 50)),
        (0, 51, (101, 70)),
        (102, 51, (102, 60)),
        (102, 61, (103, 70)),
        (0, 71, (101, 70)),  # none is that late: the first of the latest
        (0, LATEST, (101, 70)),
        (102, LATEST, (103, 70)),
        (104, LATEST, (104, -1)),
        (105, 0, None),
    ],
)
def test_the_first_that_is_late_enough_or_the_latest(codec, first, timestamp, found):
    assert seek(batch(codec=codec), first, timestamp) == found


@pytest.mark.parametrize(("first", "offset"), [(0, 100), (103, 103)])
def test_with_the_brokers_clock_all_have_its_time(first, offset):
    stamped = batch(timestamp_type=1)
    raw = bytearray(stamped.raw)
    raw[35:43] = (999).to_bytes(8, "big")

    assert seek(Batch(raw), first, 5) == seek(Batch(raw), first, LATEST) == (offset, 999)


def test_where_compaction_has_been_offsets_have_gaps():
    whole = batch()
    inside = contents(whole)
    spans = [(at.start, at.stop) for at in keys_of(whole, inside) if at.offset in (102, 104)]

    assert seek(Batch(retain(whole, inside, spans)), 0, 0) == (102, 60)
    assert seek(Batch(retain(whole, inside, spans)), 103, 0) == (104, -1)
    assert seek(Batch(retain(whole, inside, [])), 0, 0) is None


def test_nonsense_is_refused():
    raw = bytearray(batch().raw)
    raw[61:64] = b"\xff\xff\xff"

    with pytest.raises(ProtocolError) as refused:
        seek(Batch(raw), 0, LATEST)

    assert refused.value.code is ErrorCode.INVALID_RECORD


def test_the_compiled_one_looks_through_millions_at_once():
    if module.native.seek is None:
        pytest.skip("without a compiler")
    record = b"\x0e\0\0\0\x02k\x01\0"

    assert native.seek(record * 1_000_000, 0, 8_000_000, 7, 1_000_000, 0, LATEST) == (0, 7)
    with pytest.raises(ValueError, match="beyond"):
        native.seek(record * 10, 0, 80, 7, 11, 0, LATEST)
    with pytest.raises(IndexError):
        native.seek(record, 0, 9, 7, 1, 0, LATEST)
    with pytest.raises(TypeError):
        native.seek(record, 0, 8)
