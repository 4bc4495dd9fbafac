"""More than there may be: what is told of it, by the same number as Kafka's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from peers.asking import Asker
from peers.clients import Record
from peers.clients.java import Java
from peers.joining import joining
from peers.process import Server

UNKNOWN_SERVER_ERROR = -1
OFFSET_METADATA_TOO_LARGE = 12
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75
MEMBER_ID_REQUIRED = 79
METADATA_MAX = 4096
BATCH = 1 << 20  # max.message.bytes of __consumer_offsets


# ── groups ───────────────────────────────────────────────────────────────────────────


def joined(asker: Asker, group: str, size: int) -> Any:
    """JoinGroup of a member that says so much of itself."""
    said = [{"name": "range", "metadata": bytes(size)}]
    first = asker.ask("join_group", 5, **joining(group) | {"protocols": said})
    if first.error_code != MEMBER_ID_REQUIRED:
        return first
    return asker.ask("join_group", 5, **joining(group) | {"protocols": said, "member_id": first.member_id})


def synced(asker: Asker, group: str, member: Any, size: int) -> int:
    given = [{"member_id": member.member_id, "assignment": bytes(size)}]
    place = {"group_id": group, "generation_id": member.generation_id, "member_id": member.member_id}
    answer = asker.ask(
        "sync_group", 5, **place, protocol_type="consumer", protocol_name="range", assignments=given
    )
    return int(answer.error_code)


def test_a_member_that_says_more_of_itself_than_can_be_written(asker: Asker, name: str) -> None:
    """Kafka keeps it in memory, and finds out when the group is to be written."""
    member = joined(asker, name, BATCH + 1_000)

    assert (member.error_code or synced(asker, name, member, 1)) == UNKNOWN_SERVER_ERROR


def test_an_assignment_that_cannot_be_written(asker: Asker, name: str) -> None:
    member = joined(asker, name, 100)
    assert member.error_code == 0

    assert synced(asker, name, member, BATCH + 1_000) == UNKNOWN_SERVER_ERROR


def committed(asker: Asker, group: str, topic: str, words: list[str]) -> list[int]:
    """Commit an offset with words to each partition; the errors."""
    partitions = [
        {
            "partition_index": index,
            "committed_offset": 1,
            "committed_leader_epoch": -1,
            "committed_metadata": word,
        }
        for index, word in enumerate(words)
    ]
    answer = asker.ask("offset_commit", 8, group_id=group, generation_id_or_member_epoch=-1, member_id="",
                       topics=[{"name": topic, "partitions": partitions}])  # fmt: skip
    return [partition.error_code for partition in answer.topics[0].partitions]


def test_words_that_are_too_many_for_one_offset(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(3)
    words = ["few", "x" * (METADATA_MAX + 1), "x" * METADATA_MAX]

    assert committed(asker, name, topic, words) == [0, OFFSET_METADATA_TOO_LARGE, 0]


def test_offsets_that_are_too_many_for_one_batch(
    asker: Asker, name: str, make_topic: Callable[..., str]
) -> None:
    topic = make_topic(1)
    words = ["x" * METADATA_MAX] * 300
    partitions = [
        {
            "partition_index": 0,
            "committed_offset": 1,
            "committed_leader_epoch": -1,
            "committed_metadata": word,
        }
        for word in words
    ]
    answer = asker.ask("offset_commit", 8, group_id=name, generation_id_or_member_epoch=-1, member_id="",
                       topics=[{"name": topic, "partitions": partitions}])  # fmt: skip

    assert {each.error_code for each in answer.topics[0].partitions} == {UNKNOWN_SERVER_ERROR}


# ── epochs ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("epoch", "error"), [(-1, 0), (-2, FENCED_LEADER_EPOCH), (2**31 - 1, UNKNOWN_LEADER_EPOCH)]
)
def test_leader_epochs_that_there_are_not(
    asker: Asker, make_topic: Callable[..., str], epoch: int, error: int
) -> None:
    asked = {"partition_index": 0, "current_leader_epoch": epoch, "timestamp": -1}
    topics = [{"name": make_topic(), "partitions": [asked]}]
    answer = asker.ask("list_offsets", 7, replica_id=-1, isolation_level=0, topics=topics)

    assert answer.topics[0].partitions[0].error_code == error


# ── records ──────────────────────────────────────────────────────────────────────────


def test_of_a_batch_with_records_without_a_key_java_is_told_which(
    node: Server, make_topic: Callable[..., str]
) -> None:
    """A compacted topic takes none of them; those that were wrong are told from those that came with them, which may be
    sent again."""
    topic = make_topic(cleanup_policy="compact")
    java = Java(node.bootstrap)
    keys = [b"a", None, b"b", None, b"c"]

    errors = java.write_together(topic, [Record(key, b"v") for key in keys])

    wrong, beside_it = "InvalidRecordException", "KafkaException"
    assert errors == [beside_it, wrong, beside_it, wrong, beside_it]
    assert java.write_together(topic, [Record(key, b"v") for key in keys if key]) == [None] * 3
