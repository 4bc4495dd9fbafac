import pytest

from andiron.log.checkpoints import LogCheckpoint
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.model.ids import TopicIdPartition, TopicPartition
from andiron.records.record import Record
from andiron.sim.mirror import WHOLE, Mirror, scan
from andiron.sim.watcher import Violation


def test_a_mirror_follows_its_log_batch_by_batch(quiet):
    quiet.create(internal_segment_bytes=300)
    for number in range(6):
        quiet.write(b"%d" % number, b"x" * 40)
    mirror = quiet.mirror()
    assert (mirror.start, mirror.end) == (0, 12)
    assert [stored.base for stored in mirror.batches] == [0, 2, 4, 6, 8, 10]
    assert [mirror.records[offset].value for offset in (0, 2)] == [b"0", b"1"]
    assert len(quiet.partition().log.segments) > 1
    assert [batch.base_offset for batch, _ in scan(quiet.host, quiet.partition())] == [0, 2, 4, 6, 8, 10]


def test_what_is_promised_is_kept_but_not_from_damage_on(quiet):
    quiet.create()
    for _ in range(4):
        quiet.write(b"x", b"y")
    mirror = quiet.mirror()
    mirror.keep(6)
    assert mirror.kept == 6
    mirror.damage(4, 6)
    assert mirror.kept == 4
    mirror.keep(8)
    assert mirror.kept == 4
    assert mirror.is_rotten(5) and not mirror.is_rotten(6)


def test_a_cut_forgets_everything_behind_it(quiet):
    quiet.create()
    for _ in range(4):
        quiet.write(b"x", b"y")
    mirror = quiet.mirror()
    mirror.cut(4)
    assert (mirror.end, sorted(mirror.live), len(mirror.batches)) == (4, [0, 1, 2, 3], 2)
    mirror.advance(3)
    assert (mirror.start, list(mirror.live), mirror.first_live(0, 9)) == (3, [3], 3)
    mirror.restart(9)
    assert (mirror.end, mirror.first_live(0, 9)) == (9, None)


def test_a_topic_made_again_has_another_mirror(quiet):
    quiet.create()
    first = quiet.mirror()
    quiet.partition().topic_id = b"another id here!"
    assert quiet.mirror() is not first
    assert len(quiet.mirrors.on(quiet.host)) == 2


def test_what_stood_in_a_log_before_it_began_anew_is_of_no_epoch():
    mirror = Mirror(TopicPartition("t", 0), 0)
    mirror.records[3] = Record(3, 0, None, b"x", ())
    mirror.begin_anew(5)
    assert (3 in mirror.records, mirror.epoch_at(3)) == (True, None)


def test_what_became_of_a_batch_is_remembered_when_its_log_begins_anew_until_it_is_back(quiet):
    quiet.create()
    quiet.write(b"x", b"y")
    quiet.write(b"z")
    mirror = quiet.mirror()
    before = list(mirror.decisions())
    mirror.begin_anew(3)
    assert (mirror.batches, list(mirror.decisions())) == ([], before)
    mirror.cut(2)  # the power brought back what was dropped from here on
    assert list(mirror.decisions()) == before[:1]


def test_a_batch_that_compaction_took_by_a_lost_decision_is_open_to_nobody_and_remembered(quiet):
    quiet.create()
    quiet.write(b"x")
    mirror = quiet.mirror()
    mirror.batches = [stored._replace(transactional=True) for stored in mirror.batches]
    mirror.spend([0])
    assert (mirror.verdicts.first_open(), list(mirror.spent)) == (None, [0])
    assert not mirror.batches[0].transactional


def test_a_place_to_read_on_from_does_not_outlive_the_file_it_is_in(quiet):
    """As when a log moves to another directory, is compacted there, and comes back with fewer bytes under its base."""
    quiet.create()
    quiet.write(b"x" * 40)
    quiet.write(b"y")
    partition, log = quiet.partition(), quiet.partition().log
    assert quiet.mirror().end == 2
    (_, _), (last, _) = scan(quiet.host, partition)
    quiet.host.disk.write_file(quiet.path(), bytes(last.raw))
    partition.log = PartitionLog.open(
        LogFolder(quiet.host.disk, log.directory),
        TopicIdPartition(log.topic_id, log.partition),
        log.settings,
        checkpoint=LogCheckpoint(recovery_point=2, clean=True),
        now=quiet.world.now,
    )

    quiet.write(b"z" * 200)

    assert (quiet.mirror().end, quiet.mirror().records[2].value) == (3, b"z" * 200)


def test_what_is_no_batch_is_told_with_its_file(quiet):
    quiet.create()
    quiet.write(b"x")
    quiet.host.disk.write_file(quiet.path(), bytes(61))
    with pytest.raises(Violation, match=f"{WHOLE}: {quiet.path()}, read from byte 0 on: CORRUPT_MESSAGE"):
        scan(quiet.host, quiet.partition())
