"""A description of a group, also when something is not known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from andiron.cli.group_report import GroupReport
from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.group_descriptions import GroupMember
from andiron.model.ids import TopicPartition
from unit.client.coordinating import Coordinating
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker

NOW = 91_000  # Logs writes at 1000


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=3)
        Logs(scripted).write(0, b"x", b"y", b"z")
        yield scripted


@pytest.fixture
def coordinating(broker: ScriptedBroker) -> Coordinating:
    made = Coordinating(broker)
    made.committed["g"] = {"t": {0: 1, 1: 0}}
    return made


def report(broker: ScriptedBroker) -> GroupReport:
    with Client(broker.bootstrap) as client:
        return GroupReport.gather(GroupAdmin(client), "g", NOW)


def test_of_a_group_that_is_not_served_it_says_so_and_how_far_it_has_come(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    coordinating.unserved["g"] = "streams"
    found = report(broker)

    assert found.as_text().splitlines()[:3] == [
        f"g: Empty, streams group, coordinator 1 ({broker.bootstrap}), behind by 2 records and 1m 30s",
        "",
        "Andiron keeps streams groups for Kafka and does not serve them; Kafka's kafka-streams-groups.sh tells who is "
        "in one, and changes it, where Kafka serves it",
    ]
    assert (found.as_json()["type"], found.as_json()["members"]) == ("streams", None)


def test_it_is_aligned_for_people(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.classic_group("g", "Stable", m1=[0], m2=[1, 2], m3=[])

    assert report(broker).as_text() == "\n".join(
        [
            f"g: Stable, classic protocol, assignor range, coordinator 1 ({broker.bootstrap}), 3 members, "
            "behind by 2 records and 1m 30s",
            "",
            "TOPIC  PARTITION  COMMITTED  END  LAG  BEHIND  OWNER",
            "t              0          1    3    2  1m 30s  m1",
            "t              1          0    0    0  0s      m2",
            "t              2          -    0    0  -       m2",
            "",
            "MEMBER  INSTANCE  CLIENT     HOST       PARTITIONS",
            "m1      -         client-m1  127.0.0.1  t:0",
            "m2      -         client-m2  127.0.0.1  t:1-2",
            "m3      -         client-m3  127.0.0.1  none",
        ]
    )


def test_it_is_complete_for_programs(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.classic_group("g", "Stable", m1=[0])
    told = report(broker).as_json()

    assert {
        name: told[name] for name in ("group", "type", "protocol_type", "state", "assignor", "epoch")
    } == {
        "group": "g",
        "type": "classic",
        "protocol_type": "consumer",
        "state": "Stable",
        "assignor": "range",
        "epoch": None,
    }
    assert told["coordinator"] == {"id": 1, "host": "127.0.0.1", "port": broker.port}
    assert told["members"] == [
        {
            "id": "m1",
            "instance_id": None,
            "client_id": "client-m1",
            "host": "127.0.0.1",
            "rack": None,
            "epoch": None,
            "topics": ["t"],
            "partitions": [{"topic": "t", "partition": 0}],
            "target": None,
        }
    ]
    assert told["partitions"][0] == {
        "topic": "t",
        "partition": 0,
        "committed": 1,
        "metadata": "",
        "end": 3,
        "lag": 2,
        "unread": None,
        "lag_seconds": 90.0,
        "owner": "m1",
    }


def test_an_empty_group_is_what_it_has_committed(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.consumer_group("g")
    text = report(broker).as_text()

    assert text.startswith("g: Empty, consumer protocol, assignor uniform")
    assert "0 members" in text
    assert "MEMBER " not in text
    assert report(broker).as_json()["epoch"] == 3


def test_what_was_never_committed_is_shown_with_all_that_may_be_unread(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    coordinating.classic_group("g", "Stable", m1=[0, 1, 2])
    coordinating.committed["g"] = {"t": {1: 0}}
    found = report(broker)

    assert "behind by 0 records, nothing committed of 1 partition with 3 records" in found.as_text()
    assert "t              0          -    3  0 to 3  -       m1" in found.as_text()
    assert [(each["lag"], each["unread"]) for each in found.as_json()["partitions"]] == [
        (None, 3), (0, None), (None, 0),
    ]  # fmt: skip


def test_a_partition_that_no_member_has_is_shown_with_its_topic(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    coordinating.classic_group("g", "Stable", m1=[1])
    coordinating.committed["g"] = {}

    assert [each["unread"] for each in report(broker).as_json()["partitions"]] == [3, 0, 0]


def test_who_only_commits_has_no_other_partitions(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.classic_group("g")
    found = report(broker)
    by_hand = found.group._replace(protocol_type="")
    with Client(broker.bootstrap) as client:
        assert [each.partition for each in GroupAdmin(client).lag(by_hand, NOW)] == [0, 1]


def test_a_topic_that_is_gone_has_no_end(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.classic_group("g")
    coordinating.committed["g"] = {"gone": {0: 7}}

    assert "gone           0          7  -    -    -       -" in report(broker).as_text()
    assert report(broker).as_json()["partitions"][0]["lag"] is None


def test_a_group_without_offsets_or_members_is_a_line(
    broker: ScriptedBroker, coordinating: Coordinating
) -> None:
    coordinating.classic_group("g")
    coordinating.committed.clear()

    assert "\n" not in report(broker).as_text()


def test_a_member_on_the_move_tells_where_to(broker: ScriptedBroker, coordinating: Coordinating) -> None:
    coordinating.classic_group("g", "Stable", m1=[0])
    found = report(broker)
    partitions = [TopicPartition("t", 0)]
    moving = GroupMember("m", "i", "c", "/h", None, ["t"], partitions, [TopicPartition("t", 1)], 4)
    silent = GroupMember("n", None, "c", "/h", None, [], None)
    group = found.group._replace(members=[moving, silent])
    text = GroupReport(group, found.lags).as_text()

    assert "t:0 (to be t:1)" in text
    assert "not told" in text
    assert GroupReport(group, {}).as_json()["members"][0]["target"] == [{"topic": "t", "partition": 1}]
