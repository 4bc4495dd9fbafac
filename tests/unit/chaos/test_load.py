"""Writers note of every record when it was due, when it was acknowledged, and as what."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from andiron.chaos import load as load_module
from andiron.chaos.load import Load, read_back
from andiron.chaos.records import FoundRecord, value_of
from andiron.client.settings import ClientSettings
from andiron.model.errors import ErrorCode
from andiron.model.ids import TopicPartition
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

P0 = TopicPartition("t", 0)


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t")
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    return Logs(broker)


def written(broker: ScriptedBroker, acks: str, count: int) -> Load:
    """One writer, until so many records are sent."""
    load = Load(broker.bootstrap, P0, acks, writers=1, rate=500.0)
    load.start()
    until = time.monotonic() + 10
    while len(load.sent) < count:
        assert time.monotonic() < until, load.problems
        time.sleep(0.005)
    load.stop()
    return load


def test_every_record_has_the_offset_at_which_it_lies(broker: ScriptedBroker, logs: Logs) -> None:
    load = written(broker, "all", 20)

    assert [each.number for each in load.sent] == list(range(len(load.sent)))
    assert [each.offset for each in load.sent] == list(range(len(load.sent)))
    assert logs.values(0)[:2] == [value_of(0, 0, 512), value_of(0, 1, 512)]


def test_time_counts_from_when_a_record_was_due(broker: ScriptedBroker, logs: Logs) -> None:
    load = written(broker, "1", 20)

    assert [each.sent_at for each in load.sent[:3]] == [0.0, 1 / 500, 2 / 500]
    assert all(each.acked_at is not None and each.acked_at >= each.sent_at for each in load.sent[1:])


def test_without_answers_there_are_no_offsets(broker: ScriptedBroker, logs: Logs) -> None:
    assert {each.offset for each in written(broker, "0", 5).sent} == {-1}


def test_what_is_refused_is_given_up_and_the_next_is_sent(broker: ScriptedBroker, logs: Logs) -> None:
    logs.produce_errors = [ErrorCode.MESSAGE_TOO_LARGE.number]

    load = written(broker, "1", 20)

    assert load.sent[0].acked_at is None
    assert load.sent[-1].acked_at is not None
    assert len(load.problems) == 1


def test_everything_is_read_back_once_the_end_is_steady(
    broker: ScriptedBroker, logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "STEADY_S", 0.01)
    monkeypatch.setattr(load_module, "PATIENT", ClientSettings())
    logs.write(0, value_of(1, 7, 40), value_of(2, 0, 40))

    assert read_back(broker.bootstrap, P0) == [FoundRecord(1, 7, 0), FoundRecord(2, 0, 1)]
