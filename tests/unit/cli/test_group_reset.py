"""A reset is shown first, done when told to, and refused while anybody would undo it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from unit.client.coordinating import Coordinating
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    """Partition 0 has offsets 0 to 9, partition 1 has offsets 0 and 1."""
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        logs = Logs(scripted)
        logs.write(0, *[b"x"] * 10)
        logs.write(1, b"x", b"x")
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    made = Coordinating(broker)
    made.classic_group("g")
    made.committed["g"] = {"t": {0: 5}}
    return made


def reset(broker: ScriptedBroker, *arguments: str) -> Any:
    return CliRunner().invoke(andiron, ["group", "reset", *arguments, "-b", broker.bootstrap])


def test_by_default_it_is_only_shown(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = reset(broker, "g", "--topic", "t", "--to-offset", "7")

    assert result.stdout == "\n".join(
        [
            "TOPIC  PARTITION  COMMITTED  NEW  CHANGE  NOTE",
            "t              0          5    7  +2",
            "t              1          -    2  -       7 is behind the end of the log",
            "",
        ]
    )
    assert result.stderr == "nothing was changed; --execute does it\n"
    assert coordinating.committed["g"] == {"t": {0: 5}}


def test_it_is_done_when_told_to(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = reset(broker, "g", "--topic", "t", "--to-offset", "7", "--execute")

    assert result.stderr == "g: 2 offsets set\n"
    assert coordinating.committed["g"] == {"t": {0: 7, 1: 2}}


@pytest.mark.parametrize(
    ("target", "after"),
    [
        (["--to-earliest"], 0),
        (["--to-latest"], 10),
        (["--to-offset", "3"], 3),
        (["--shift-by", "-2"], 3),
        (["--shift-by", "2"], 7),
        (["--to-time", "5m ago"], 10),
        (["--by-duration", "1h"], 10),
    ],
)
def test_there_are_many_places_to_go(
    broker: ScriptedBroker, coordinating: Coordinating, target: list[str], after: int
) -> None:
    (move,) = json.loads(reset(broker, "g", "--all-topics", *target, "--json").stdout)

    assert move == {
        "topic": "t",
        "partition": 0,
        "committed": 5,
        "new": after,
        "note": None,
        "executed": False,
    }


def test_a_time_is_asked_of_the_leaders(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    reset(broker, "g", "--topic", "t:0", "--to-time", "@12345")

    times = [each.topics[0].partitions[0].timestamp for each in broker.requests("ListOffsets")]
    assert 12345 in times


def test_an_active_group_is_refused_in_a_line(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.classic_group("g", "Stable", m=[0])
    result = reset(broker, "g", "--topic", "t", "--to-earliest", "--execute")

    assert result.exit_code == 1
    assert "group 'g' is Stable and has 1 member" in result.stderr
    assert result.stderr.count("\n") == 1
    assert coordinating.committed["g"] == {"t": {0: 5}}


def test_a_group_that_is_not_there_is_made(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert "there is no group 'new' yet" in reset(broker, "new", "--topic", "t:0", "--to-latest").stderr
    assert reset(broker, "new", "--topic", "t:0", "--to-latest", "--execute").exit_code == 0
    assert coordinating.committed["new"] == {"t": {0: 10}}


def test_what_has_committed_nothing_cannot_be_reset_as_a_whole(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    result = reset(broker, "new", "--all-topics", "--to-latest")

    assert result.exit_code == 1
    assert "name topics with --topic" in result.stderr


def test_topics_that_are_gone_are_left_out_with_a_remark(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    coordinating.committed["g"]["gone"] = {3: 7}
    result = reset(broker, "g", "--all-topics", "--to-earliest", "--execute")

    assert "left out, since they are gone or have no leader: gone:3" in result.stderr
    assert coordinating.committed["g"] == {"t": {0: 0}, "gone": {3: 7}}


def test_a_shift_from_nowhere_is_one_line(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = reset(broker, "g", "--topic", "t", "--shift-by", "1", "--execute")

    assert result.exit_code == 1
    assert "t-1 has no committed offset to shift from" in result.stderr
    assert coordinating.committed["g"] == {"t": {0: 5}}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["g"],
        ["g", "--topic", "t"],
        ["g", "--to-earliest"],
        ["g", "--topic", "t", "--all-topics", "--to-earliest"],
        ["g", "--topic", "t", "--to-earliest", "--to-latest"],
        ["g", "--topic", "t", "--to-offset", "-1"],
        ["g", "--topic", "t", "--to-time", "soon"],
        ["g", "--topic", "t", "--by-duration", "long"],
    ],
)
def test_wrong_usage_asks_nobody(broker: ScriptedBroker, arguments: list[str]) -> None:
    assert reset(broker, *arguments).exit_code == 2
    assert broker.asked == []


@pytest.mark.parametrize(("kind", "code"), [("share", 1), ("streams", 0)])
def test_a_share_group_has_nothing_to_reset_and_one_of_streams_has_offsets_like_others(
    broker: ScriptedBroker, coordinating: Coordinating, kind: str, code: int
) -> None:
    coordinating.unserved["kept"] = kind
    result = reset(broker, "kept", "--topic", "t", "--to-offset", "1", "--execute")

    assert result.exit_code == code
    if code:
        assert result.stderr.startswith(
            "andiron: 'kept' is a share group, which has no offsets of this kind; "
        )
        assert result.stderr.count("\n") == 1
        assert coordinating.committed["kept"] == {}
