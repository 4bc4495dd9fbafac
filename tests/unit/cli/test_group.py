"""`andiron group` without a cluster: usage, and questions asked. With one: tests/cli/test_group.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.client.blocking import broker_survey
from andiron.wire.messages.metadata import MetadataPartition
from unit.cli.answering import answered
from unit.client.coordinating import Coordinating
from unit.client.logs import Logs
from unit.client.scripted import FROZEN_ID, ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        Logs(scripted)
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    made = Coordinating(broker)
    made.classic_group("busy", "Stable", m1=[0, 1])
    made.consumer_group("idle")
    made.committed["idle"] = {"t": {0: 0, 1: 0}}
    return made


def group(broker: ScriptedBroker, *arguments: str, answer: str = "") -> Any:
    with answered(answer):
        return CliRunner().invoke(andiron, ["group", *arguments, "-b", broker.bootstrap], input=answer)


def test_the_list_is_aligned_for_people(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert group(broker, "list").stdout == "\n".join(
        [
            "GROUP  TYPE      PROTOCOL  STATE   COORDINATOR",
            "busy   classic   consumer  Stable            1",
            "idle   consumer  consumer  Empty             1",
            "",
        ]
    )


def test_the_list_is_json_for_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert json.loads(group(broker, "list", "--json", "--state", "empty").stdout) == [
        {
            "group": "idle",
            "type": "consumer",
            "protocol_type": "consumer",
            "state": "Empty",
            "coordinator": 1,
        }
    ]
    assert "idle" not in group(broker, "list", "--type", "classic").stdout


def test_no_groups_are_a_remark(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.groups.clear()
    result = group(broker, "list")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "group.id" in result.stderr


def test_a_description_is_for_people_or_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert group(broker, "describe", "busy").stdout.startswith("busy: Stable, classic protocol")
    assert json.loads(group(broker, "describe", "busy", "--json").stdout)["state"] == "Stable"


def test_a_group_that_is_not_there_is_one_line(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = group(broker, "describe", "nosuch")

    assert result.exit_code == 1
    assert result.stderr == (
        "andiron: there is no group 'nosuch'; `andiron group list` shows what there is\n"
    )


def test_deleting_asks_first(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    assert group(broker, "delete", "idle", answer="n\n").exit_code == 1
    assert "idle" in coordinating.groups
    assert group(broker, "delete", "idle", answer="y\n").stdout == "deleted idle\n"
    assert "idle" not in coordinating.groups


def test_nothing_is_deleted_if_one_is_not_there(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = group(broker, "delete", "idle", "idel", "--yes")

    assert result.exit_code == 1
    assert "there is no group 'idel'; nothing was deleted" in result.stderr
    assert "idle" in coordinating.groups


def test_a_group_with_members_stays(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = group(broker, "delete", "busy", "--yes")

    assert result.exit_code == 1
    assert "stop its members first" in result.stderr


@pytest.mark.parametrize("kind", ["share", "streams"])
def test_a_group_that_is_kept_and_not_served_is_deleted_elsewhere(
    broker: ScriptedBroker, coordinating: Coordinating, kind: str
) -> None:
    coordinating.unserved["kept"] = kind
    assert "kept" in group(broker, "list", "--type", kind).stdout
    result = group(broker, "delete", "kept", "--yes")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(
        f"andiron: 'kept' is a {kind} group; Andiron keeps {kind} groups for Kafka"
    )
    assert result.stderr.count("\n") == 1


def test_a_share_group_has_no_offsets_to_forget(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.unserved["kept"] = "share"
    result = group(broker, "delete-offsets", "kept", "--topic", "t", "--yes")

    assert result.exit_code == 1
    assert result.stderr.startswith("andiron: 'kept' is a share group, which has no offsets of this kind; ")


def test_offsets_are_forgotten_after_a_question(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    arguments = ["delete-offsets", "idle", "--topic", "t:1"]

    assert group(broker, *arguments, answer="n\n").exit_code == 1
    assert group(broker, *arguments, "--yes").stdout == "idle: 1 offset forgotten\n"
    assert coordinating.committed["idle"] == {"t": {0: 0}}


def test_members_are_removed_by_either_id(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    result = group(broker, "remove-member", "busy", "--member", "m1", "--instance", "i1")

    assert result.stdout == "busy: removed m1\nbusy: removed i1\n"
    unknown = group(broker, "remove-member", "busy", "--member", "m9")
    assert unknown.exit_code == 1
    assert "andiron group describe" in unknown.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe"],
        ["delete"],
        ["list", "--state", "happy"],
        ["delete-offsets", "g"],
        ["delete-offsets", "g", "--topic", "t:x"],
        ["remove-member", "g"],
    ],
)
def test_wrong_usage_asks_nobody(broker: ScriptedBroker, arguments: list[str]) -> None:
    assert group(broker, *arguments).exit_code == 2
    assert broker.asked == []


def test_what_was_changed_is_json_for_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    def told(*arguments: str) -> Any:
        return json.loads(group(broker, *arguments, "--json").stdout)

    forgotten = told("delete-offsets", "idle", "--topic", "t:0", "--yes")
    assert forgotten == {"group": "idle", "forgotten": [{"topic": "t", "partition": 0}]}
    removed = told("remove-member", "busy", "--member", "m1")
    assert removed == {"group": "busy", "members": ["m1"], "instances": []}
    assert told("delete", "idle", "--yes") == {"deleted": ["idle"]}


@pytest.fixture
def frozen(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A broker that is stopped leads partition 1."""
    monkeypatch.setattr(broker_survey, "HASTE_MS", 300)
    with broker.beside_a_frozen_one():
        broker.topics["t"].partitions[1] = MetadataPartition(0, 1, FROZEN_ID, 0, [FROZEN_ID], [FROZEN_ID])
        yield


@pytest.mark.usefixtures("frozen")
def test_groups_are_listed_and_described_without_a_frozen_broker_which_is_named(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    listed = group(broker, "list", "--json")
    assert (listed.exit_code, [each["group"] for each in json.loads(listed.stdout)]) == (0, ["busy", "idle"])
    assert listed.stderr.startswith("no answer from broker 2 (127.0.0.1:")
    assert listed.stderr.endswith("says nothing): groups that it coordinates are not listed\n")
    described = group(broker, "describe", "idle", "--json")
    assert [each["end"] for each in json.loads(described.stdout)["partitions"]] == [0, None]
    assert described.stderr.endswith("what it leads has no END\n")


@pytest.mark.usefixtures("frozen")
def test_beside_a_frozen_broker_groups_that_are_there_are_deleted_and_others_are_not_called_missing(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    result = group(broker, "delete", "idle", "its", "--yes")
    assert (result.exit_code, "idle" in coordinating.groups) == (1, True)
    assert "whether there is a group 'its' cannot be told; nothing was deleted" in result.stderr
    assert group(broker, "delete", "idle", "--yes").stdout == "deleted idle\n"
