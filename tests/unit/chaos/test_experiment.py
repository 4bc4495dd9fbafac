"""A cell goes through its steps in their order, and leaves the cluster whole."""

from __future__ import annotations

from typing import Any, cast

import pytest

from andiron.chaos import experiment
from andiron.chaos.cells import Cell
from andiron.chaos.experiment import Experiment
from andiron.chaos.faults import Fault
from andiron.chaos.records import FoundRecord, SentRecord
from andiron.chaos.timeline import PartitionGlimpse
from andiron.client.core.metadata import Partition
from andiron.model.ids import TopicPartition


class Stage:
    """A cluster, a load, a clock and a timeline that only note what is asked of them."""

    bootstrap, ports = "nowhere:1", {}

    def __init__(self) -> None:
        self.done: list[str] = []
        self.time = 0.0
        self.began = 0.0
        self.harmed: dict[int, None] = {}
        self.glimpses = [PartitionGlimpse(0.1, 3, (1, 2, 3))]
        self.sent = [SentRecord(0, number, number * 1.0, number + 0.5, number) for number in range(12)]

    def __getattr__(self, name: str) -> Any:
        def note(*arguments: object) -> None:
            self.done.append(" ".join(map(str, [name, *arguments])))

        return note

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def now(self) -> float:
        return self.time

    def partition(self, topic: str) -> Partition:
        return Partition(0, 3, 0, [3, 1, 2], [1, 2, 3], [])

    def wait_until_out(self, node: int, patience_s: float) -> bool:
        self.time += 2.0
        return True

    def wait_until_in(self, node: int, patience_s: float) -> bool:
        self.done.append(f"heir {node}")
        return True


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage()
    monkeypatch.setattr(experiment, "time", made)
    monkeypatch.setattr(experiment, "Load", lambda *arguments: made)
    monkeypatch.setattr(experiment, "Timeline", lambda *arguments: made)
    monkeypatch.setattr(experiment, "make_topic", lambda *arguments: [TopicPartition("t", 0)])
    monkeypatch.setattr(
        experiment, "read_back", lambda *arguments: [FoundRecord(0, number, number) for number in range(11)]
    )
    return made


def fault(stage: Stage) -> Fault:
    def strike(cluster: object, node: int) -> None:
        stage.done.append(f"strike {node}")

    def mend(cluster: object, node: int) -> None:
        stage.done.append(f"mend {node}")

    return Fault("tickle", "tickled", strike, mend)


def test_the_steps_come_in_their_order(stage: Stage) -> None:
    outcome = Experiment(cast(Any, stage), fault(stage), 4.0).run(Cell("1", 2, False))

    assert "heir 2" in stage.done
    steps = [
        each
        for each in stage.done
        if each.split()[0] in ("strike", "cut_off", "kill_with_wires", "heal", "mend", "start")
    ]
    assert steps == [
        "start",
        "start",
        "strike 1",
        "cut_off 3",
        "kill_with_wires 3",
        "heal 3",
        "mend 1",
        "start 3",
    ]
    assert stage.done[-1] == "stop"
    assert outcome.marks == (4.0, 6.0, 10.0, 11.0, 15.0, 19.0, 19.0)


def test_the_outcome_has_the_account_and_the_verdict(stage: Stage) -> None:
    outcome = Experiment(cast(Any, stage), fault(stage), 4.0).run(Cell("1", 2, False))

    assert [each.number for each in outcome.account.lost] == [11]
    assert outcome.verdict.good
    assert (outcome.leader, outcome.follower, outcome.fault) == (3, 1, "tickled")
    assert outcome.before is not None and outcome.before.records == 4


def test_unavailable_is_the_longest_silence_after_the_cut(stage: Stage) -> None:
    stage.sent = [SentRecord(0, at, at * 1.0, at * 1.0, at) for at in (0, 1, 2, 3, 8, 9, 10, 13)]

    outcome = Experiment(cast(Any, stage), fault(stage), 4.0).run(Cell("all", 2, False))

    assert outcome.unavailable is not None
    assert (outcome.unavailable.begin, outcome.unavailable.end) == (13.0, 19.0)


def test_the_load_ends_also_when_a_step_fails(stage: Stage) -> None:
    def fails(cluster: object, node: int) -> None:
        raise OSError("no such node")

    with pytest.raises(OSError, match="no such node"):
        Experiment(cast(Any, stage), fault(stage)._replace(strike=fails), 4.0).run(Cell("all", 2, False))

    assert stage.done[-2:] == ["stop 0.0", "stop"]
