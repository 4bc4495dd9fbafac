from __future__ import annotations

import pytest

from andiron.log.cleaner import CleanableLog, Cleaner, CleanerBudget
from andiron.log.compaction import UncleanableLog
from andiron.log.disk import LogFolder
from andiron.log.partition_log import PartitionLog
from andiron.log.settings import LogSettings
from andiron.model.ids import TopicId, TopicIdPartition, TopicPartition
from andiron.records.batch import Batch, iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of
from andiron.sim.disk import MemoryDisk
from unit.log.logs import flush

SETTINGS = LogSettings(cleanup_policy=("compact",), segment_bytes=200, min_cleanable_dirty_ratio=0.1)
NOW = 5_000


class World:
    """A cleaner, the logs of one directory, and how far they are clean."""

    def __init__(self):
        self.disk = MemoryDisk()
        self.disk.make_directory("data")
        self.cleaner = Cleaner(self.disk)
        self.logs, self.cleaned = [], {}

    def log(self, topic="t", settings=SETTINGS, *, keys=b"", **producer):
        """A log with one record for each byte of `keys`, two to a segment."""
        topic_id = TopicId(topic.encode().rjust(16, b"0"))
        log = PartitionLog.open(
            LogFolder(self.disk, f"data/{topic}-0"),
            TopicIdPartition(topic_id, TopicPartition(topic, 0)),
            settings,
            now=NOW,
        )
        self.logs.append(log)
        self.write(log, keys, **producer)
        return log

    def write(self, log, keys, **producer):
        for key in keys:
            batch = build([Record(0, 100, bytes((key,)), b"x" * 20)], **producer)
            log.append(Batch(batch), 0, NOW)
        flush(log)

    def next_job(self, means=CleanerBudget()):
        logs = [CleanableLog(log, log.end, self.cleaned.get(log.partition)) for log in self.logs]
        return self.cleaner.next_job(logs, NOW, means)

    def finish(self, job):
        """The log, if the round has cleaned it."""
        cleaned = self.cleaner.finish(job.run(self.disk), None, NOW)
        if cleaned is not None:
            self.cleaned[cleaned.log.partition] = cleaned.cleaned_upto
        return cleaned and cleaned.log

    def litter(self, topic="t"):
        return [name for name in self.disk.names(f"data/{topic}-0") if name.endswith(".cleaned")]


@pytest.fixture
def world():
    return World()


def left(log):
    offset, found = log.start, []
    while (some := log.read(offset, 1 << 20, log.end)) is not None:
        for batch in iterate(some.read()):
            found += [(record.offset, record.key) for record in records_of(batch)]
            offset = batch.next_offset
    return found


def test_a_round_cleans_a_log_and_says_how_far(world):
    log = world.log(keys=b"abaabc")

    job = world.next_job()
    assert world.cleaner.under_way is log
    assert world.finish(job) is log

    assert left(log) == [(1, b"b"), (3, b"a"), (4, b"b"), (5, b"c")]  # the last two are in the active segment
    assert world.cleaned == {log.partition: job.end}
    assert world.cleaner.under_way is None
    assert world.litter() == []


def test_a_clean_log_is_not_cleaned_again_until_there_is_more(world):
    log = world.log(keys=b"aaaaaa")
    world.finish(world.next_job())
    assert world.next_job() is None

    world.write(log, b"aaaa")

    assert world.next_job().first_dirty == 4


def test_another_cleaner_goes_on_from_the_checkpoint(world):
    world.log(keys=b"aaaaaa")
    world.finish(world.next_job())
    world.cleaner = Cleaner(world.disk)

    assert world.next_job() is None


def test_only_one_round_runs_at_a_time_and_the_dirtiest_log_goes_first(world):
    half = world.log("half", keys=b"aaaaaa")
    world.finish(world.next_job())
    world.write(half, b"aaaa")
    world.log("dirty", keys=b"aaaaaa")

    job = world.next_job()

    assert job.partition.topic == "dirty"
    assert world.next_job() is None
    world.finish(job)
    assert world.next_job().partition.topic == "half"


def test_logs_that_are_not_to_be_compacted_are_left_alone(world):
    world.log(settings=LogSettings(cleanup_policy=("delete",), segment_bytes=200), keys=b"aaaaaa")

    assert world.next_job() is None


def test_a_job_gets_the_means_and_what_it_must_know_of_producers(world):
    world.log(keys=b"aaaaaa")
    log = world.logs[0]
    for sequence in range(2):
        batch = build([Record(0, 1, b"z", b"z")], producer_id=9, producer_epoch=3, base_sequence=sequence)
        log.append(Batch(batch), 0, NOW)

    job = world.next_job(CleanerBudget(1 << 20, 0.5, 1000.0))

    assert (job.buffer_bytes, job.load_factor, job.bytes_per_second_max) == (1 << 20, 0.5, 1000.0)
    assert job.producers == {9: (7, 3)}


def test_nothing_beyond_the_watermark_is_cleaned(world):
    log = world.log(keys=b"aaaaaaaa")

    assert world.cleaner.next_job([CleanableLog(log, 1, None)], NOW) is None
    assert world.cleaner.next_job([CleanableLog(log, 5, None)], NOW).end == 4


def test_what_is_not_on_the_disk_supersedes_nothing_yet(world):
    log = world.log(keys=b"aaaa")
    for _ in range(4):
        batch = build([Record(0, 100, b"a", b"x" * 20)])
        log.append(Batch(batch), 0, NOW)

    assert log.segments.bases[-1] > log.flushed_end == 4
    assert world.next_job().end == 4


# ── results that come too late ───────────────────────────────────────────────────────


def test_a_result_is_dropped_if_the_log_was_cut_meanwhile_though_it_grew_again(world):
    log = world.log(keys=b"aaaaaaaa")
    job = world.next_job()
    log.truncate(1, NOW)
    world.write(log, b"bcdefgh")
    before = left(log)

    assert world.finish(job) is None

    assert left(log) == before
    assert world.litter() == []
    assert world.next_job().first_dirty == 0


def test_a_result_is_dropped_if_the_log_is_gone_and_another_has_its_name(world):
    old = world.log(keys=b"aaaaaaaa")
    job = world.next_job()
    old.delete(NOW)
    world.cleaner.forget(old.partition)
    world.logs.clear()
    new = world.log(keys=b"bcdefghi")

    assert world.finish(job) is None

    assert [key for _, key in left(new)] == [b"b", b"c", b"d", b"e", b"f", b"g", b"h", b"i"]
    assert world.litter() == []


def test_where_retention_took_a_segment_its_group_stays_and_the_others_are_cleaned(world):
    log = world.log(keys=b"abacadaeafag")
    job = world.next_job()
    result = job.run(world.disk)
    assert len(result.replacements) > 1
    gone = result.replacements[0].old
    log.advance_start(gone[0] + 2)
    log.delete_old(NOW, log.end)

    assert world.cleaner.finish(result, None, NOW) is None

    kept = [offset for offset, _ in left(log)]
    assert set(kept) < set(range(gone[0] + 2, 12))
    assert world.litter() == []
    assert world.next_job().first_dirty == log.start


def test_a_failed_round_is_tried_again(world):
    world.log(keys=b"aaaaaa")
    world.next_job().run(world.disk)

    assert world.cleaner.finish(None, "the worker process is gone", NOW) is None

    assert world.litter() == []
    assert world.next_job() is not None


def test_a_damaged_log_is_not_tried_again(world):
    world.log(keys=b"aaaaaa")
    world.next_job()

    world.cleaner.finish(UncleanableLog("rotten"), None, NOW)

    assert world.next_job() is None
    world.cleaner.forget(world.logs[0].partition)
    assert world.next_job() is not None, "one that comes under its name is another"


@pytest.mark.parametrize("change", [lambda log: log.truncate(3, NOW), lambda log: log.delete(NOW)])
def test_what_a_round_read_while_its_log_was_cut_or_given_up_is_no_damage(world, change):
    log = world.log(keys=b"aaaaaa")
    world.next_job()
    change(log)

    world.cleaner.finish(UncleanableLog("the batch at byte 92 goes beyond 100"), None, NOW)

    world.logs = []
    again = world.log(keys=b"bbbbbb")
    assert again.partition == log.partition
    assert world.next_job() is not None
