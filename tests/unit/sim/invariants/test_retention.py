import pytest

from andiron.sim.watcher import Violation
from unit.sim.quiet import CHECKPOINT_MS

SETTINGS = {"internal_segment_bytes": 300, "file_delete_delay_ms": 0}


def filled(quiet, **settings):
    quiet.create(**SETTINGS | settings)
    for number in range(20):
        quiet.write(b"%d" % number * 20)
    return quiet


def look(quiet):
    for watcher in quiet.world.watchers:
        watcher.stepped(quiet.host)


def test_old_segments_may_go(quiet):
    filled(quiet, retention_ms=1_000)
    quiet.run(60_000)
    assert quiet.partition().log.start == 20
    assert quiet.mirror().start == 20
    quiet.rest()


def test_a_log_may_be_kept_small(quiet):
    filled(quiet, retention_bytes=1_000)
    quiet.run(60_000)
    assert 0 < quiet.partition().log.start < 20


def test_records_that_go_too_early_are_noticed(quiet):
    filled(quiet, retention_ms=1_000_000)
    quiet.partition().log.advance_start(5)
    with pytest.raises(Violation, match="records go when they may"):
        look(quiet)


def test_records_that_are_never_to_go_are_missed(quiet):
    quiet.create(cleanup_policy="compact")
    quiet.put(b"k", b"v")
    quiet.partition().log.advance_start(1)
    with pytest.raises(Violation, match="never to be deleted"):
        look(quiet)


def test_records_go_when_they_are_asked_to(quiet):
    filled(quiet)
    assert quiet.delete_records(7).low_watermark == 7
    assert quiet.mirror().start == 7
    assert quiet.delete_records(-1).low_watermark == 20


def test_a_start_is_kept_by_a_stop(quiet):
    filled(quiet)
    quiet.delete_records(7)
    quiet.restart(quiet.host.stop)
    assert quiet.partition().log.start == 7


def test_a_start_that_is_forgotten_though_it_was_written_down_is_noticed(quiet):
    filled(quiet)
    quiet.delete_records(7)
    quiet.run(5 * CHECKPOINT_MS)
    quiet.host.kill()
    quiet.host.disk.remove("/data/log-start-offset-checkpoint")
    with pytest.raises(Violation, match="a log's start is kept"):
        quiet.boot()


def test_a_start_that_a_client_was_told_of_is_kept_by_a_crash_that_comes_at_once(quiet):
    filled(quiet)
    quiet.delete_records(7)
    quiet.host.kill()
    quiet.boot()
    assert quiet.partition().log.start == 7


def test_a_start_that_a_client_was_told_of_and_that_is_forgotten_is_noticed(quiet):
    filled(quiet)
    quiet.delete_records(7)
    quiet.host.kill()
    quiet.host.disk.remove("/data/log-start-offset-checkpoint")
    with pytest.raises(Violation, match="a log's start is kept"):
        quiet.boot()
