"""What a snapshot is called, what is in it, and how one that is not whole is found out."""

import pytest

from andiron.model.errors import ProtocolError
from andiron.quorum.records import KRaftVersionRecord, SnapshotFooterRecord, SnapshotHeaderRecord
from andiron.quorum.snapshot_format import (
    BATCH_RECORDS,
    FileName,
    SnapshotId,
    batches_of,
    entries_of,
    parse_file_name,
)
from andiron.records.batch import Batch

ID = SnapshotId(1234, 7)


def batches(values, about=()):
    return [Batch(batch) for batch in batches_of(ID, 99, values, about)]


def test_its_name_is_the_end_and_the_epoch():
    assert ID.file_name == "00000000000000001234-0000000007.checkpoint"
    assert parse_file_name(ID.file_name) == FileName(ID, is_part=False)
    assert parse_file_name(f"{ID.file_name}.part") == FileName(ID, is_part=True)


@pytest.mark.parametrize(
    "name", ["00000000000000001234.log", "1-2.checkpoint", "leader-epoch-checkpoint", "x.checkpoint"]
)
def test_other_files_are_none(name):
    assert parse_file_name(name) is None


def test_what_is_written_is_read():
    values = [b"%d" % number for number in range(3 * BATCH_RECORDS + 1)]

    header, version, *rest, footer = entries_of(batches(values, [KRaftVersionRecord(0, 1)]))

    assert header == SnapshotHeaderRecord(0, 99)
    assert version == KRaftVersionRecord(0, 1)
    assert rest == values
    assert footer == SnapshotFooterRecord()


def test_its_offsets_count_from_zero_and_its_batches_are_of_the_last_records_epoch():
    found = batches([b"x"] * (BATCH_RECORDS + 5))

    assert [(each.base_offset, each.next_offset) for each in found] == [
        (0, 1),
        (1, 101),
        (101, 106),
        (106, 107),
    ]
    assert [each.leader_epoch for each in found] == [7] * 4
    assert [each.is_control for each in found] == [True, False, False, True]


def test_large_records_make_more_batches():
    assert len(batches([bytes(40_000)] * 4)) == 2 + 2


def test_values_are_asked_for_as_they_are_written():
    asked = []
    values = (asked.append(number) or b"x" for number in range(1000))
    writing = batches_of(ID, 99, values)

    next(writing)
    assert asked == []
    next(writing)
    assert len(asked) == BATCH_RECORDS


def test_one_without_anything_in_it_is_whole():
    assert len(list(entries_of(batches([])))) == 2


@pytest.mark.parametrize("left", range(3))
def test_one_without_its_footer_was_cut_short(left):
    with pytest.raises(ProtocolError, match="cut short"):
        list(entries_of(batches([b"x"] * (BATCH_RECORDS + 1))[:left]))


def test_one_without_its_header_is_none():
    with pytest.raises(ProtocolError, match="does not begin with a header"):
        list(entries_of(batches([b"x"])[1:]))


def test_nothing_follows_the_footer():
    found = batches([b"x"])

    with pytest.raises(ProtocolError, match="follows the footer"):
        list(entries_of([*found, found[1]]))


def test_a_bit_that_turned_over_is_found():
    found = [bytearray(batch) for batch in batches_of(ID, 99, [b"value"])]
    found[1][-3] ^= 1

    with pytest.raises(ProtocolError, match="fails its checksum"):
        list(entries_of(map(Batch, found)))
