"""What a walk over a batch's records finds; tests/properties/test_records.py holds both to the same."""

from __future__ import annotations

import pytest

from andiron.records import native
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.records.walk import NO_KEY, OUT_OF_TIME, walk

BODY = bytes(
    build([Record(0, 100, b"k", b"v"), Record(0, 300, None, b""), Record(0, 200, b"", None, (("h", b"x"),))])[
        61:
    ]
)


@pytest.fixture(params=[walk, native.walk], ids=["python", "compiled"])
def walker(request):
    if request.param is None:
        pytest.skip("the extension was not built here")
    return request.param


def found(walker, *, earliest=0, latest=1000, keyed=False, told_max=10, data=BODY, count=3, base=100, top=0):
    answer = walker(data, 0, len(data), base, top, count, earliest, latest, keyed, told_max)
    return None if answer is None else tuple(answer)


def test_where_all_is_as_the_header_says_there_is_nothing_to_tell(walker):
    assert found(walker, top=300) is None


def test_the_latest_timestamp_is_told_where_the_header_says_another(walker):
    assert found(walker, top=299) == found(walker, top=301) == (300, 0, ())


def test_records_that_are_not_taken_are_told_by_their_index(walker):
    assert found(walker, keyed=True) == (300, 1, ((1, NO_KEY),))
    assert found(walker, latest=250) == (300, 1, ((1, OUT_OF_TIME),))
    assert found(walker, earliest=101, keyed=True) == (300, 2, ((0, OUT_OF_TIME), (1, NO_KEY)))
    assert found(walker, earliest=301, told_max=1) == (300, 3, ((0, OUT_OF_TIME),))


def test_without_records_there_is_no_timestamp(walker):
    assert found(walker, data=b"", count=0) == (-1, 0, ())
    assert found(walker, data=b"", count=0, top=-1) is None


def test_every_record_needs_seven_bytes_so_a_lie_is_known_before_the_walk(walker):
    with pytest.raises(ValueError, match="room"):
        found(walker, count=2**31 - 1)


def test_a_timestamp_beyond_64_bits_is_none(walker):
    with pytest.raises(ValueError, match="64 bits"):
        found(walker, base=2**63 - 1)


def test_wherever_it_is_cut_it_is_refused(walker):
    for stop in range(len(BODY)):
        with pytest.raises(ValueError):
            found(walker, data=BODY[:stop])


def test_the_compiled_one_reads_nothing_beyond_what_it_was_given():
    if native.walk is None:
        pytest.skip("the extension was not built here")
    for start, stop in ((0, len(BODY) + 1), (-1, 5), (9, 5)):
        with pytest.raises(IndexError):
            native.walk(BODY, start, stop, 0, 0, 1, 0, 0, False, 1)
    with pytest.raises(TypeError):
        native.walk(BODY, 0, 1)
    with pytest.raises(TypeError):
        native.walk("no bytes", 0, 1, 0, 0, 1, 0, 0, False, 1)
    with pytest.raises(OverflowError):
        native.walk(BODY, 0, 1, 1 << 64, 0, 1, 0, 0, False, 1)
