import pytest

from andiron.model.ids import TopicPartition
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.sim.watcher import Violation


def smuggle(quiet, records):
    """Write a batch that nobody sent, behind everyone's back."""
    partition = quiet.partition()
    partition.append_own(records, quiet.host.clock.now())
    quiet.host.feed_nothing()


@pytest.fixture
def quiet(quiet):
    quiet.create()
    quiet.write(b"a", b"b")
    quiet.host.feed_nothing = lambda: [watcher.stepped(quiet.host) for watcher in quiet.world.watchers]
    return quiet


def test_what_nobody_sent_is_noticed(quiet):
    with pytest.raises(Violation, match="nothing is in a log but what was sent"):
        smuggle(quiet, build([Record(0, 0, None, b"made up")]))


def test_what_was_sent_to_another_partition_is_noticed(quiet):
    sent = quiet.batch((None, b"x"), partition=TopicPartition("other", 0))
    with pytest.raises(Violation, match="was sent to other-0"):
        smuggle(quiet, bytearray(sent.data))


def test_a_sequence_that_is_there_twice_is_noticed(quiet):
    sent = quiet.batch((None, b"x"), producer=(7, 0, 0))
    quiet.produce(sent)
    quiet.partition().log.producers._states.clear()
    with pytest.raises(Violation, match="a sequence is there once and in turn"):
        smuggle(quiet, bytearray(sent.data))


def test_a_gap_in_a_producers_sequence_is_noticed(quiet):
    quiet.produce(quiet.batch((None, b"x"), producer=(7, 0, 0)))
    quiet.partition().log.producers._states.clear()
    with pytest.raises(Violation, match="has sequence 5 after 0"):
        smuggle(quiet, bytearray(quiet.batch((None, b"y"), producer=(7, 0, 5)).data))


def test_a_log_that_shrinks_is_noticed(quiet):
    quiet.partition().log.end = 1
    with pytest.raises(Violation, match="a log only grows"):
        quiet.host.feed_nothing()


def test_a_log_that_says_more_than_its_file_is_noticed(quiet):
    quiet.partition().log.end = 5
    with pytest.raises(Violation, match="and on the disk at 2"):
        quiet.host.feed_nothing()


def test_a_new_log_starts_at_0(quiet):
    quiet.mirrors.clear()
    quiet.partition().log.start = 1
    with pytest.raises(Violation, match="is new, and starts at 1"):
        quiet.host.feed_nothing()
