"""Offsets by hand: every version of commit and fetch, and what each answers to the wrong words.

Every answer is the one that Kafka gives.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from peers.asking import Asker
from peers.joining import join, joined

UNKNOWN_TOPIC_OR_PARTITION = 3
OFFSET_METADATA_TOO_LARGE = 12
ILLEGAL_GENERATION = 22
UNKNOWN_MEMBER_ID = 25
REBALANCE_IN_PROGRESS = 27
GROUP_ID_NOT_FOUND = 69
FENCED_INSTANCE_ID = 82
UNKNOWN_TOPIC_ID = 100
COMMIT_VERSIONS, FETCH_VERSIONS = range(2, 11), range(1, 11)
BY_ID = 10  # from here on topics are told by their ids
NOBODY = {"member_id": "", "generation_id_or_member_epoch": -1}


@pytest.fixture
def topic_id(asker: Asker) -> Callable[[str], uuid.UUID]:
    def find(topic: str) -> uuid.UUID:
        found = asker.ask("metadata", 12, topics=[{"topic_id": None, "name": topic}])
        identity: uuid.UUID = found.topics[0].topic_id
        return identity

    return find


def partition(number: int = 0, offset: int = 5, metadata: str | None = "m") -> dict[str, Any]:
    return {"partition_index": number, "committed_offset": offset, "committed_metadata": metadata}


def commit(asker: Asker, version: int, group: str, topic: Any, **more: Any) -> int:
    """Commit for one partition; the error of that partition."""
    row = more.pop("partition", partition())
    key = "topic_id" if isinstance(topic, uuid.UUID) else "name"
    fields = {"group_id": group, **NOBODY, **more, "topics": [{key: topic, "partitions": [row]}]}
    answer = asker.ask("offset_commit", version, **fields)
    return int(answer.topics[0].partitions[0].error_code)


def fetch(asker: Asker, version: int, group: str, topic: Any, number: int = 0) -> tuple[int, int, str]:
    """(error, offset, metadata) of one partition."""
    key = "topic_id" if isinstance(topic, uuid.UUID) else "name"
    topics = [{key: topic, "partition_indexes": [number]}]
    if version < 8:
        found = asker.ask("offset_fetch", version, group_id=group, topics=topics)
    else:
        (found,) = asker.ask("offset_fetch", version, groups=[{"group_id": group, "topics": topics}]).groups
        assert (found.group_id, found.error_code) == (group, 0)
    (row,) = found.topics[0].partitions
    return row.error_code, row.committed_offset, row.metadata


@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_a_commit_in_every_version_is_read_in_every_version(
    asker: Asker,
    name: str,
    make_topic: Callable[..., str],
    topic_id: Callable[[str], uuid.UUID],
    version: int,
) -> None:
    topic = make_topic(2)
    identity = topic_id(topic)

    assert commit(asker, version, name, identity if version >= BY_ID else topic) == 0

    for each in FETCH_VERSIONS:
        place = identity if each >= BY_ID else topic
        assert fetch(asker, each, name, place) == (0, 5, "m"), each
        assert fetch(asker, each, name, place, number=1) == (0, -1, ""), each


def test_a_fetch_for_several_groups_and_for_all_that_they_have(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    one, two = make_topic(), make_topic()
    for group, topic, offset in [("a", one, 1), ("a", two, 2), ("b", two, 3)]:
        assert commit(asker, 8, f"{name}-{group}", topic, partition=partition(offset=offset)) == 0

    wanted = [{"group_id": f"{name}-{letter}", "topics": None} for letter in "abc"]
    found = asker.ask("offset_fetch", 9, groups=wanted).groups

    told = [{topic.name: topic.partitions[0].committed_offset for topic in group.topics} for group in found]
    assert [group.error_code for group in found] == [0, 0, 0]
    assert told == [{one: 1, two: 2}, {two: 3}, {}]


@pytest.mark.parametrize("version", [2, 8, 9])
def test_a_topic_or_partition_that_is_not_there(
    asker: Asker, name: str, make_topic: Callable[..., str], version: int
) -> None:
    topic = make_topic()

    assert commit(asker, version, name, f"{topic}-not") == UNKNOWN_TOPIC_OR_PARTITION
    assert commit(asker, version, name, topic, partition=partition(1)) == UNKNOWN_TOPIC_OR_PARTITION
    assert fetch(asker, version, name, f"{topic}-not") == (0, -1, "")


def test_a_topic_id_that_is_not_there(asker: Asker, name: str) -> None:
    stranger = uuid.UUID(int=12345)

    assert commit(asker, BY_ID, name, stranger) == UNKNOWN_TOPIC_ID
    assert fetch(asker, BY_ID, name, stranger)[:2] == (UNKNOWN_TOPIC_ID, -1)


@pytest.mark.parametrize("version", [2, 8, 9])
def test_metadata_of_any_length_up_to_the_limit(
    asker: Asker, name: str, make_topic: Callable[..., str], version: int
) -> None:
    """The limit counts characters, as Java does."""
    topic = make_topic()

    def with_metadata(text: str | None) -> int:
        return commit(asker, version, name, topic, partition=partition(metadata=text))

    assert with_metadata("x" * 4097) == OFFSET_METADATA_TOO_LARGE
    assert with_metadata("ä" * 4097) == OFFSET_METADATA_TOO_LARGE
    assert fetch(asker, version, name, topic) == (0, -1, "")
    for text in ("x" * 4096, "ä" * 4096, ""):
        assert with_metadata(text) == 0
        assert fetch(asker, version, name, topic) == (0, 5, text)
    assert with_metadata(None) == 0
    assert fetch(asker, version, name, topic) == (0, 5, "")


@pytest.mark.parametrize("version", [2, 8, 9])
def test_commits_of_the_unknown_and_the_stale(
    asker: Asker, name: str, make_topic: Callable[..., str], version: int
) -> None:
    topic = make_topic()

    def told(group: str, member: str, generation: int) -> int:
        who = {"member_id": member, "generation_id_or_member_epoch": generation}
        return commit(asker, version, group, topic, **who)

    unheard = GROUP_ID_NOT_FOUND if version >= 9 else ILLEGAL_GENERATION
    assert told(f"{name}-nobody", "m", 1) == unheard
    me = join(asker, name)
    assert told(name, me.member_id, 1) == REBALANCE_IN_PROGRESS
    place = {"group_id": name, "generation_id": 1, "member_id": me.member_id}
    assert asker.ask("sync_group", 3, **place, assignments=[]).error_code == 0

    assert told(name, me.member_id, 1) == 0
    assert told(name, "m", 1) == UNKNOWN_MEMBER_ID
    assert told(name, me.member_id, 0) == ILLEGAL_GENERATION
    assert told(name, me.member_id, 2) == ILLEGAL_GENERATION
    assert told(name, "", -1) == UNKNOWN_MEMBER_ID


def test_a_commit_under_a_name_that_another_has_taken(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic()
    older = joined(asker, name, group_instance_id="one")
    newer = join(asker, name, group_instance_id="one")
    who = {"group_instance_id": "one", "generation_id_or_member_epoch": newer.generation_id}

    assert commit(asker, 8, name, topic, **who, member_id=older.member_id) == FENCED_INSTANCE_ID
    assert commit(asker, 8, name, topic, **who, member_id=newer.member_id) == 0


def test_offsets_that_are_deleted_and_those_that_cannot_be(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(2)
    assert commit(asker, 8, name, topic) == 0

    def delete(group: str, where: str, *numbers: int) -> Any:
        rows = [{"partition_index": number} for number in numbers]
        return asker.ask("offset_delete", 0, group_id=group, topics=[{"name": where, "partitions": rows}])

    assert delete(f"{name}-nobody", topic, 0).error_code == GROUP_ID_NOT_FOUND
    answer = delete(name, topic, 0, 1, 7)
    assert answer.error_code == 0
    codes = {row.partition_index: row.error_code for row in answer.topics[0].partitions}
    assert codes == {0: 0, 1: 0, 7: UNKNOWN_TOPIC_OR_PARTITION}
    assert fetch(asker, 8, name, topic) == (0, -1, "")
