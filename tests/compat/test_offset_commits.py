"""Committed offsets, with the words and the epochs that go with them, through every client.

What one library commits every other one reads, before and after the server was killed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from peers import clients, groups
from peers.clients import Refused
from peers.groups import Committed, Groups
from peers.groups.base import Place
from peers.kafka import Kafka
from peers.members import kinds, laws
from peers.members.group import Group
from peers.members.hosting import Member
from peers.members.kinds import CLIENTS, COOPERATIVE, RANGE, UNIFORM, Kind
from peers.node import Node
from peers.process import Server
from peers.waiting import eventually

UNKNOWN_TOPIC_OR_PARTITION = 3
OFFSET_METADATA_TOO_LARGE = 12
METADATA_MAX_BYTES = 4096


@groups.each_client("commit")
def test_what_one_library_commits_every_other_reads(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    topic, other = make_topic(3), make_topic(1)
    writer = groups.connect(client, node.bootstrap)
    offsets = writer.told(
        {
            (topic, 0): Committed(7, "seven, and päpers", 0),
            (topic, 2): Committed(2**40, "", None),
            (other, 0): Committed(0, "x" * METADATA_MAX_BYTES, 0),
        }
    )

    writer.commit(name, offsets)

    for each in groups.ADAPTERS:
        reader = groups.connect(each, node.bootstrap)
        assert reader.committed(name, [*offsets, (topic, 1)]) == reader.told(offsets), each
        assert reader.list_offsets(name) == reader.told(offsets), each


@groups.each_client("commit")
def test_the_latest_commit_holds_even_if_it_goes_back(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    topic = make_topic()
    committer = groups.connect(client, node.bootstrap)
    for offset in (5, 9, 3):
        committer.commit(name, {(topic, 0): Committed(offset, f"at {offset}")})

    assert committer.committed(name, [(topic, 0)]) == committer.told({(topic, 0): Committed(3, "at 3")})


@groups.each_client("alter_offsets")
def test_an_administrator_moves_the_offsets_of_an_empty_group(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    topic = make_topic(2)
    admin = groups.connect(client, node.bootstrap)
    admin.commit(name, {(topic, 0): Committed(1), (topic, 1): Committed(2, "kept")})

    admin.alter_offsets(name, {(topic, 0): Committed(4, "moved", 0)})

    now = {(topic, 0): Committed(4, "moved", 0), (topic, 1): Committed(2, "kept")}
    assert admin.list_offsets(name) == admin.told(now)


@pytest.mark.parametrize("client", [name for name in groups.ADAPTERS if name != "confluent"])
def test_metadata_that_is_too_large(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    topic = make_topic()
    committer = groups.connect(client, node.bootstrap)

    with pytest.raises(Refused) as refused:
        committer.commit(name, {(topic, 0): Committed(1, "x" * (METADATA_MAX_BYTES + 1))})

    assert refused.value.code == OFFSET_METADATA_TOO_LARGE
    assert committer.committed(name, [(topic, 0)]) == {}


@pytest.mark.parametrize("client", ["confluent", "kafka_python", "java"])
def test_a_partition_that_is_not_there(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    """A consumer tries again, for it could be there soon: so an administrator asks where there is one."""
    topic = make_topic()
    committer = groups.connect(client, node.bootstrap)
    commit = committer.commit if client == "confluent" else committer.alter_offsets

    with pytest.raises(Refused) as refused:
        commit(name, {(topic, 3): Committed(1)})

    assert refused.value.code == UNKNOWN_TOPIC_OR_PARTITION


@groups.each_client("committed")
def test_a_group_that_nobody_has_heard_of_has_no_offsets(
    node: Server, make_topic: Callable[..., str], name: str, client: str
) -> None:
    topic = make_topic()

    assert groups.connect(client, node.bootstrap).committed(name, [(topic, 0)]) == {}


def test_offsets_survive_the_server_being_killed(
    tmp_path: Path, server_kind: type[Node] | type[Kafka]
) -> None:
    with server_kind(tmp_path / "node", settings={"offsets.topic.num.partitions": "3"}) as server:
        clients.connect("confluent", server.bootstrap).create_topic("kept", 4, 1)
        expected = {f"of-{client}": commit_some(server, client) for client in groups.ADAPTERS}
        server.kill()
        server.start()

        for client in groups.ADAPTERS:
            reader = groups.connect(client, server.bootstrap)
            told = {group: reader.told(offsets) for group, offsets in expected.items()}
            eventually(partial(tells, reader, told))


def tells(reader: Groups, expected: dict[str, dict[Place, Committed]]) -> bool:
    return {group: reader.list_offsets(group) for group in expected} == expected


def commit_some(server: Server, client: str) -> dict[Place, Committed]:
    committer = groups.connect(client, server.bootstrap)
    offsets = {("kept", each): Committed(100 + each, f"{client} was here") for each in range(4)}

    def commits() -> bool:
        committer.commit(f"of-{client}", offsets)
        return True

    eventually(commits)
    return committer.told(offsets)


@kinds.each(
    [Kind("confluent", COOPERATIVE), Kind("kafka_python", RANGE), Kind("aiokafka", RANGE), *kinds.NEW[::2]]
)
def test_automatic_commits_let_the_next_one_go_on(
    node: Server, make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(3)
    group.write(10)
    first = group.join(kind, auto_commit=True)
    group.drained()
    first.leave()
    assert ends(node, group) == {10}
    group.write(10)

    group.join(kind, auto_commit=True)

    group.drained()
    laws.exactly_once(group)
    eventually(lambda: ends(node, group) == {20})


def ends(node: Server, group: Group) -> set[int]:
    return {at.offset for at in groups.connect("confluent", node.bootstrap).list_offsets(group.name).values()}


@pytest.mark.parametrize("reset", ["earliest", "latest"])
@pytest.mark.parametrize("client", CLIENTS)
def test_where_a_group_begins_that_has_no_offsets(
    make_group: Callable[..., Group], client: str, reset: str
) -> None:
    group = make_group(2)
    group.write(3)
    member = group.join(Kind(client, RANGE), reset=reset)
    group.settled()
    if reset == "earliest":
        eventually(lambda: {offset for _, offset in member.records} == {0, 1, 2})
        return
    eventually(lambda: wrote_and_saw(group, member))
    assert min(offset for _, offset in member.records) >= 3


def wrote_and_saw(group: Group, member: Member) -> bool:
    """It begins at the end as it finds it, which is some moments after it was given the partitions."""
    group.write(1)
    return len({place for place, _ in member.records}) == 2


NONE = [Kind("confluent", RANGE), Kind("kafka_python", RANGE), Kind("aiokafka", RANGE), Kind("java", RANGE)]
NONE += [Kind("java", UNIFORM, "consumer")]


@kinds.each(NONE)
def test_a_group_that_is_not_told_where_to_begin_says_so(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(1)
    group.write(3)
    member = group.join(kind, reset="error" if kind.client == "confluent" else "none")

    eventually(lambda: bool(member.errors))

    assert member.records == []
