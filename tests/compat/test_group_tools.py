"""Kafka's own tools on groups: kafka-consumer-groups, and those that read the topic of the offsets itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from peers import dumping, groups, tooling
from peers.groups import Committed
from peers.members.group import Group
from peers.members.kinds import RANGE, UNIFORM, Kind
from peers.process import Server
from peers.waiting import eventually

OFFSETS_TOPIC = "__consumer_offsets"
OFFSETS_PARTITIONS = 5  # of the node under test
OFFSET_TYPE = "1"
CLASSIC, NEW = Kind("confluent", RANGE), Kind("confluent", UNIFORM, "consumer")

pytestmark = pytest.mark.java


@pytest.fixture
def settled(node: Server, make_group: Callable[..., Group]) -> Callable[[Kind], Group]:
    """A group of one over two partitions, which has read and committed five records of each."""

    def settle(kind: Kind) -> Group:
        group = make_group(2)
        group.write(5)
        group.join(kind)
        group.drained()
        admin = groups.connect("confluent", node.bootstrap)
        eventually(lambda: {at.offset for at in admin.list_offsets(group.name).values()} == {5})
        return group

    return settle


@pytest.mark.parametrize("kind", [CLASSIC, NEW], ids=str)
def test_kafka_consumer_groups_describes(node: Server, settled: Callable[[Kind], Group], kind: Kind) -> None:
    group = settled(kind)
    (topic,) = group.topics

    rows = tooling.consumer_groups(node.bootstrap, "--describe", "--group", group.name)
    (state,) = tooling.consumer_groups(node.bootstrap, "--describe", "--group", group.name, "--state")

    assert sorted(row["PARTITION"] for row in rows) == ["0", "1"]
    for row in rows:
        assert (row["GROUP"], row["TOPIC"]) == (group.name, topic)
        assert (row["CURRENT-OFFSET"], row["LOG-END-OFFSET"], row["LAG"]) == ("5", "5", "0")
        assert (row["HOST"], row["CLIENT-ID"]) == ("/127.0.0.1", "rdkafka")
    # "COORDINATOR (ID)" is one heading in two words, and its value in two columns
    assert list(state.values())[3:6] == [kind.assignor, "Stable", "1"]


def test_kafka_consumer_groups_resets_and_deletes(node: Server, settled: Callable[[Kind], Group]) -> None:
    group = settled(CLASSIC)
    (topic,) = group.topics
    group.living[0].leave()
    admin = groups.connect("confluent", node.bootstrap)

    def reset(*how: str) -> dict[str, str]:
        rows = tooling.consumer_groups(node.bootstrap, "--reset-offsets", "--group", group.name, *how)
        return {row["PARTITION"]: row["NEW-OFFSET"] for row in rows}

    def offsets() -> dict[int, int]:
        return {number: at.offset for (_, number), at in admin.list_offsets(group.name).items()}

    assert reset("--topic", topic, "--to-earliest", "--dry-run") == {"0": "0", "1": "0"}
    assert offsets() == {0: 5, 1: 5}
    assert reset("--topic", f"{topic}:1", "--shift-by", "-2", "--execute") == {"1": "3"}
    assert offsets() == {0: 5, 1: 3}

    tooling.run(
        tooling.CONSUMER_GROUPS,
        node.bootstrap,
        "--delete-offsets",
        "--group",
        group.name,
        "--topic",
        f"{topic}:0",
    )
    assert offsets() == {1: 3}
    assert group.name in tooling.run(tooling.CONSUMER_GROUPS, node.bootstrap, "--list").split()
    tooling.run(tooling.CONSUMER_GROUPS, node.bootstrap, "--delete", "--group", group.name)
    assert group.name not in admin.list_groups()


def kept(node: Server, group: str, formatter: str) -> list[Any]:
    """The group's records of this kind, oldest first."""
    partition = tooling.partition_of(group, OFFSETS_PARTITIONS)
    records = tooling.formatted(node.bootstrap, formatter, OFFSETS_TOPIC, partition)
    return [record for record in records if record["key"]["data"]["group"] == group]


def test_offsets_are_kept_in_kafkas_records(node: Server, make_topic: Callable[..., str], name: str) -> None:
    topic = make_topic(2)
    committer = groups.connect("java", node.bootstrap)
    committer.commit(name, {(topic, 0): Committed(7, "words", 0), (topic, 1): Committed(2**40)})
    committer.delete_offsets(name, [(topic, 1)])

    found = kept(node, name, "OffsetsMessageFormatter")

    keys = [{"group": name, "topic": topic, "partition": number} for number in (0, 1)]
    assert {record["key"]["type"] for record in found} == {1}
    values = {
        number: [record["value"] for record in found if record["key"]["data"] == keys[number]]
        for number in (0, 1)
    }
    (words,), (large, gone) = values[0], values[1]
    assert (words["data"]["offset"], words["data"]["metadata"], words["data"]["leaderEpoch"]) == (
        7,
        "words",
        0,
    )
    assert (large["data"]["offset"], large["data"]["leaderEpoch"], gone) == (2**40, -1, None)
    assert words["version"] == large["version"] == 4


def test_groups_are_kept_in_kafkas_records(node: Server, settled: Callable[[Kind], Group]) -> None:
    group = settled(CLASSIC)

    found = kept(node, group.name, "GroupMetadataMessageFormatter")

    assert {(record["key"]["type"], record["value"]["version"]) for record in found} == {(2, 3)}
    last = found[-1]["value"]["data"]
    assert (last["protocolType"], last["protocol"]) == ("consumer", "range")
    (member,) = last["members"]
    assert member["memberId"] == last["leader"]
    assert (member["clientId"], member["clientHost"]) == ("rdkafka", "/127.0.0.1")
    assert (member["rebalanceTimeout"], member["sessionTimeout"]) == (300_000, 30_000)


# Of a group of the new protocol: its epoch, a member, the target's epoch, a member's target, what it has now.
NEW_TYPES = {"3", "5", "6", "7", "8"}


def test_groups_of_the_new_protocol_are_kept_in_kafkas_records(
    node: Server, settled: Callable[[Kind], Group]
) -> None:
    """The formatters pass these over; kafka-dump-log reads them all, from the files of the running server."""
    group = settled(NEW)
    logs = [log for folder in node.data.glob(f"{OFFSETS_TOPIC}-*") for log in folder.glob("*.log")]

    printed = dumping.dump(logs, "--offsets-decoder")

    keys = [json.loads(key) for key in re.findall(r" key: (\{.*?\}) payload:", printed)]
    types = {
        key["type"] for key in keys if key["data"].get("groupId", key["data"].get("group")) == group.name
    }
    assert types == NEW_TYPES | {OFFSET_TYPE}
    assert dumping.complaints(printed) == []
