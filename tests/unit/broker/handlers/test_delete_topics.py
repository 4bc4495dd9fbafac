"""Topics go, and what comes under their names later has nothing of theirs."""

import pytest

from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from worlds.node import SmallNode, error_of

MINUTE = 60_000


def delete(node, *names, ids=(), version=6):
    topics = [DeleteTopicState(name) for name in names] + [DeleteTopicState(None, each) for each in ids]
    return node.ask(DeleteTopicsRequest(topics, list(names), 1_000), version).responses


@pytest.mark.parametrize("version", range(1, 7))
def test_a_topic_is_gone_when_the_answer_comes(node, version):
    node.create("t", partitions=2)

    [result] = delete(node, "t", version=version)

    assert (result.name, error_of(result)) == ("t", "NONE")
    assert error_of(node.produce("t", b"a")) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert len(node.node.broker.replica_manager) == 0


def test_a_topic_by_its_id(node):
    topic_id = node.create("t").topic_id

    [result] = delete(node, ids=[topic_id])

    assert (result.name, result.topic_id, error_of(result)) == ("t", topic_id, "NONE")


def test_files_of_a_deleted_topic_are_renamed_at_once_and_go_a_minute_later(node):
    node.create("t")
    delete(node, "t")
    folders = [name for name in node.disk.names("/data") if name.startswith("t-0")]
    assert folders[0].endswith("-delete/")

    node.advance(MINUTE)

    assert not any(name.startswith("t-0") for name in node.disk.names("/data"))


def test_a_topic_made_anew_has_none_of_the_old_records_and_settings(node):
    old = node.create("t", partitions=2, retention_ms=5).topic_id
    node.produce("t", b"old", producer_id=7, producer_epoch=0, base_sequence=0)
    delete(node, "t")

    new = node.create("t").topic_id

    assert new != old
    assert node.values("t") == []
    assert node.log("t").settings.retention_ms != 5
    assert node.produce("t", b"x", producer_id=7, producer_epoch=0, base_sequence=0).base_offset == 0
    assert error_of(node.produce("t", b"a", partition=1)) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_topic_made_anew_is_still_new_when_the_old_files_go(node):
    node.create("t")
    node.produce("t", b"old")
    delete(node, "t")
    node.create("t")
    node.produce("t", b"new")

    node.advance(2 * MINUTE)

    assert node.values("t") == [b"new"]


@pytest.mark.parametrize("clean", [True, False])
def test_a_topic_made_anew_is_still_new_after_a_restart(node, clean):
    node.create("t")
    node.produce("t", b"old")
    delete(node, "t")
    node.create("t")
    node.produce("t", b"new")

    node.restart(clean)

    assert node.values("t") == [b"new"]


def test_files_of_a_deleted_topic_go_after_a_restart_too(node):
    node.create("t")
    delete(node, "t")

    node.restart()
    node.advance(MINUTE)

    assert not any(name.startswith("t-0") for name in node.disk.names("/data"))


REFUSED = {
    "unknown": (DeleteTopicState("nope"), "UNKNOWN_TOPIC_OR_PARTITION"),
    "an unknown id": (DeleteTopicState(None, b"\x07" * 16), "UNKNOWN_TOPIC_ID"),
    "neither name nor id": (DeleteTopicState(None), "INVALID_REQUEST"),
    "both": (DeleteTopicState("t", b"\x07" * 16), "INVALID_REQUEST"),
}


@pytest.mark.parametrize(("wanted", "code"), REFUSED.values(), ids=REFUSED)
def test_topics_that_cannot_be_deleted_are_refused(node, wanted, code):
    node.create("t")

    [result] = node.ask(DeleteTopicsRequest([wanted], [], 1_000), 6).responses

    assert error_of(result) == code
    assert node.produce("t", b"a").error_code == 0


def test_topics_of_one_request_fail_each_for_itself(node):
    node.create("t")

    assert [error_of(result) for result in delete(node, "nope", "t")] == [
        "UNKNOWN_TOPIC_OR_PARTITION",
        "NONE",
    ]


def test_where_deletion_is_turned_off_nothing_goes():
    node = SmallNode(delete_topic_enable="false")
    node.create("t")

    assert error_of(delete(node, "t")[0]) == "TOPIC_DELETION_DISABLED"
    assert node.produce("t", b"a").error_code == 0


def test_a_full_disk_keeps_the_topic_and_can_be_tried_again(node):
    node.create("t")
    node.produce("t", b"a")
    node.disk.fill_up()

    assert error_of(delete(node, "t")[0]) == "KAFKA_STORAGE_ERROR"
    assert node.values("t") == [b"a"]
    node.disk.free_up()
    assert error_of(delete(node, "t")[0]) == "NONE"
