import pytest

from andiron.log.batch_filter import BatchFilter, DeleteHorizon
from andiron.sim.watcher import Violation

SETTINGS = {
    "cleanup_policy": "compact",
    "internal_segment_bytes": 300,
    "min_cleanable_dirty_ratio": 0,
    "delete_retention_ms": 60_000,
    "file_delete_delay_ms": 0,
}


def filled(quiet, rounds=8, last=b"v"):
    quiet.create(**SETTINGS)
    for number in range(rounds):
        for key in (b"a", b"b"):
            quiet.put(key, last if number == rounds // 2 else b"%d" % number * 20)
    return quiet


def test_a_compacted_log_keeps_the_latest_of_each_key(quiet):
    filled(quiet)
    quiet.run(5_000)
    mirror = quiet.mirror()
    assert len(mirror.live) < len(mirror.records)
    assert {mirror.records[offset].key for offset in mirror.live} == {b"a", b"b"}
    quiet.rest()


def test_a_latest_record_that_goes_is_noticed(quiet, monkeypatch):
    monkeypatch.setattr(BatchFilter, "_keep_data", lambda self, batch: self._without_records(batch))
    filled(quiet)
    quiet.put(b"only once", b"here")
    with pytest.raises(Violation, match="compaction keeps the latest of each key"):
        for number in range(6):
            quiet.put(b"c", b"%d" % number * 20)
        quiet.run(5_000)


def test_a_tombstone_that_goes_early_is_noticed(quiet, monkeypatch):
    monkeypatch.setattr(DeleteHorizon, "has_passed", lambda self, horizon: horizon is not None)
    quiet.create(**SETTINGS)
    quiet.put(b"k", b"v")
    quiet.put(b"k", None)
    with pytest.raises(Violation, match="was the latest of b'k', and is gone"):
        for number in range(40):
            quiet.put(b"c", b"%d" % number * 20)
            quiet.run(500)


def test_a_tombstone_may_go_in_time(quiet):
    quiet.create(**SETTINGS | {"delete_retention_ms": 1_000})
    quiet.put(b"k", b"v")
    quiet.put(b"k", None)
    for number in range(60):
        quiet.put(b"c", b"%d" % number * 20)
        quiet.run(300)
    assert b"k" not in [quiet.mirror().records[offset].key for offset in quiet.mirror().live]
    quiet.rest()
