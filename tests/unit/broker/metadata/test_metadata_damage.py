"""When damage to the metadata is a loss, and the words in which that is told."""

import pytest

from andiron.broker.metadata.metadata_damage import damaged, is_lost, missing
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.records import TopicRecord, encode_record
from andiron.log.damage import Damage
from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.record import Record
from worlds.cluster import properties
from worlds.node import PROPERTIES

ALONE, OF_THREE = NodeSettings.load(PROPERTIES), NodeSettings.load(properties(1, [1, 2, 3]))


def topics(base, *names):
    records = [
        Record(0, 0, None, encode_record(TopicRecord(name=name, topic_id=bytes(16)))) for name in names
    ]
    return Batch(build(records, base_offset=base))


def damage(offset, *behind):
    return Damage("/data/m/0.log", 812, offset, "the batch of offset 17 fails its checksum", list(behind))


@pytest.mark.parametrize(
    ("flushed", "snapshot", "lost"),
    [
        (None, 0, True),
        (0, 0, False),
        (17, 0, False),
        (18, 0, True),
        (30, 20, True),
        (20, 20, False),
        (18, 40, False),
    ],
)
def test_what_was_flushed_and_is_in_no_snapshot_is_lost(flushed, snapshot, lost):
    assert is_lost(damage(17), flushed, snapshot) is lost


def test_what_is_whole_behind_the_damage_and_beyond_the_snapshot_is_lost():
    assert is_lost(damage(17, topics(20, "a")), 20, 20)


def test_the_words_name_the_file_what_is_behind_and_the_way_out():
    told = str(damaged(damage(17, topics(18, *"abcdefg")), "/data/m", ALONE))

    assert "/data/m/0.log is damaged at byte 812 (the batch of offset 17 fails its checksum)" in told
    assert "7 whole records behind it, up to offset 24, would be lost" in told
    assert "topics a, b, c, d, e and 2 more" in told
    assert "Put the file back from a backup; without one, `andiron log mend /data/m` shows" in told
    assert "\n" not in told


def test_where_there_are_other_controllers_they_have_it():
    assert "this node fetches it from them" in str(damaged(damage(17), "/data/m", OF_THREE))


def test_partitions_without_metadata_are_named():
    assert "there are partitions (/data/orders-0), which would be nobody's" in str(
        missing("/m", ["/data/orders-0"])
    )
