from __future__ import annotations

import pytest

from andiron.log.checkpoints import (
    CheckpointError,
    decode_offsets,
    encode_offsets,
    load_offsets,
    save_offsets,
)
from andiron.model.ids import TopicPartition
from andiron.sim.disk import MemoryDisk

OFFSETS = {TopicPartition("orders", 0): 1045, TopicPartition("my.other_topic-x", 11): 0}


def test_the_file_is_version_count_and_lines():
    assert encode_offsets(OFFSETS) == b"0\n2\norders 0 1045\nmy.other_topic-x 11 0\n"


def test_offsets_read_back():
    assert decode_offsets(encode_offsets(OFFSETS)) == OFFSETS
    assert decode_offsets(encode_offsets({})) == {}


def test_an_empty_file_has_no_offsets():
    assert decode_offsets(b"") == {}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"1\n0\n", "version '1'"),
        (b"\n", "version ''"),
        (b"0\n", "lines announced"),
        (b"0\n2\norders 0 1\n", "'2' lines announced, 1 there"),
        (b"0\n1\norders 0\n", "does not have 3 fields"),
        (b"0\n1\norders x 1\n", "'x' is not a whole number"),
        (b"0\n1\norders 0 -1\n", "'-1' is not a whole number"),
        (b"\xff\xfe\x00", "version"),
    ],
)
def test_nonsense_is_refused_with_a_reason(data, complaint):
    with pytest.raises(CheckpointError, match=complaint):
        decode_offsets(data)


def test_what_is_saved_is_loaded_again():
    disk, notices = MemoryDisk(), []
    disk.make_directory("data")
    save_offsets(disk, "data/recovery-point-offset-checkpoint", OFFSETS)
    assert load_offsets(disk, "data/recovery-point-offset-checkpoint", notices) == OFFSETS
    assert notices == []


def test_a_missing_file_holds_nothing():
    notices = []
    assert load_offsets(MemoryDisk(), "data/x", notices) == {}
    assert notices == []


def test_a_broken_file_is_taken_as_absent_with_a_notice():
    disk, notices = MemoryDisk(), []
    disk.make_directory("data")
    disk.write_file("data/x", b"garbage")
    assert load_offsets(disk, "data/x", notices) == {}
    assert notices == ["data/x is taken as absent: version 'garbage', not 0"]
