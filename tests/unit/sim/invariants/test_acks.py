from dataclasses import replace

import pytest

from andiron.broker.replicas.partition import Partition
from andiron.log import producers
from andiron.sim.watcher import Violation
from unit.sim.quiet import Quiet


def test_an_acknowledged_batch_stands_where_it_is_said_to(quiet):
    quiet.create(flush_messages=1)
    assert quiet.write(b"a", b"b").base_offset == 0
    assert quiet.write(b"c").base_offset == 2
    assert quiet.mirror().kept == 3


def test_a_wrong_offset_is_noticed(quiet, monkeypatch):
    quiet.create()
    quiet.write(b"a")
    append = Partition.append
    monkeypatch.setattr(
        Partition, "append", lambda self, *how: replace(append(self, *how), base_offset=0, end=1)
    )
    with pytest.raises(Violation, match="what is acknowledged stands in the log"):
        quiet.write(b"b")


def test_an_acknowledgement_before_the_fsync_is_found_out_by_a_power_loss(monkeypatch):
    monkeypatch.setattr(Partition, "acknowledged", lambda self, written, acks: True)
    with pytest.raises(Violation, match="what was promised survives"):
        for seed in range(10):
            quiet = Quiet(seed)
            quiet.create(flush_messages=1)
            quiet.host.background.flush_ms_max = 60_000
            for number in range(5):
                quiet.write(b"%d" % number)
            assert quiet.mirror().kept == 5
            quiet.restart(quiet.host.lose_power)


def test_duplicates_are_answered_with_where_they_are(quiet):
    quiet.create()
    batches = [quiet.batch((None, b"%d" % n), producer=(7, 0, n)) for n in range(4)]
    quiet.produce(*batches)
    assert [quiet.produce(batch).base_offset for batch in batches] == [0, 1, 2, 3]


def test_a_duplicate_that_is_refused_is_noticed(quiet, monkeypatch):
    monkeypatch.setattr(producers, "REMEMBERED_BATCHES", 1)
    quiet.create()
    batches = [quiet.batch((None, b"%d" % n), producer=(7, 0, n)) for n in range(4)]
    quiet.produce(*batches)
    with pytest.raises(Violation, match="known to be in the log"):
        quiet.produce(batches[1])


def test_a_batch_in_turn_that_is_refused_is_noticed(quiet):
    quiet.create()
    quiet.produce(quiet.batch((None, b"x"), producer=(7, 0, 0)))
    quiet.partition().log.producers.get(7).next_sequence = 9
    with pytest.raises(Violation, match="the next of its producer"):
        quiet.produce(quiet.batch((None, b"y"), producer=(7, 0, 1)))


def test_a_batch_out_of_turn_may_be_refused(quiet):
    quiet.create()
    quiet.produce(quiet.batch((None, b"x"), producer=(7, 0, 0)))
    assert quiet.produce(quiet.batch((None, b"y"), producer=(7, 0, 5))).error_code == 45
