import pytest

from andiron.log.partition_log import PartitionLog
from andiron.log.segment import Segment
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from andiron.sim.watcher import Violation


@pytest.fixture
def quiet(quiet):
    quiet.create(index_interval_bytes=0)
    for number in range(6):
        quiet.write(b"%d" % number, b"x")
    return quiet


def test_a_reader_is_shown_the_log(quiet):
    for offset in range(13):
        quiet.fetch(offset)


def test_a_record_left_out_is_noticed(quiet, monkeypatch):
    position = Segment.position_of
    monkeypatch.setattr(Segment, "position_of", lambda self, offset: position(self, offset + 2))
    with pytest.raises(Violation, match="2 is left out"):
        quiet.fetch(2)


def test_a_batch_from_before_the_place_is_noticed(quiet, monkeypatch):
    monkeypatch.setattr(Segment, "position_of", lambda self, offset: 0)
    with pytest.raises(Violation, match="lies before 4"):
        quiet.fetch(4)


def test_damage_that_nobody_did_is_noticed(quiet):
    data = quiet.host.disk._names.find(quiet.path()).data
    data[-1] ^= 1
    with pytest.raises(Violation, match="fails its checksum"):
        quiet.fetch(0)


def test_an_offset_that_is_there_and_said_not_to_be_is_noticed(quiet, monkeypatch):
    def refuse(self, *how, **more):
        raise ErrorCode.OFFSET_OUT_OF_RANGE.error("it is not")

    monkeypatch.setattr(PartitionLog, "read", refuse)
    with pytest.raises(Violation, match="3 is within orders-0"):
        quiet.fetch(3)


def test_what_a_reader_of_a_durable_topic_was_shown_is_a_promise(quiet):
    assert quiet.mirror().kept == 0
    quiet.create("durable", flush_messages=1)
    durable = TopicPartition("durable", 0)
    quiet.produce(quiet.batch((None, b"x"), partition=durable))
    quiet.fetch(0, durable)
    assert quiet.mirror(durable).kept == 1
