"""What handlers work on: found by name and id, changed in one place, noted until the end of the step."""

import logging

import pytest

from andiron.broker.node.waiting import Wait
from andiron.model.effects import Disconnected, Flush, Flushed, Received, Reconfigure
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from worlds.node import SmallNode


def refusal(act, *arguments):
    with pytest.raises(ProtocolError) as caught:
        act(*arguments)
    return caught.value.code


def effects_of(node, request, version, ticket=9_000):
    frame = encode_request_header(request.__api_key__, version, 1, "x") + encode_message(request, version)
    return node.node.step(Received(1, ticket, memoryview(bytearray(frame))), node.now)


def test_a_partition_is_found_by_name_and_by_id(node):
    topic_id = node.create("t").topic_id
    broker = node.node.broker

    assert broker.partition("t", bytes(16), 0) is broker.partition("", topic_id, 0)
    assert broker.partition_by_name("t", 0).topic_id == topic_id


def test_what_is_not_there_is_told_in_the_words_of_the_question(node):
    topic_id = node.create("t").topic_id
    broker = node.node.broker

    assert refusal(broker.partition, "nope", bytes(16), 0) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert refusal(broker.partition, "", b"\x07" * 16, 0) is ErrorCode.UNKNOWN_TOPIC_ID
    assert refusal(broker.partition, "", topic_id, 5) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_an_append_that_nobody_waits_for_has_no_effect_but_its_answer(node):
    node.create("t")

    effects = effects_of(node, node.produce_request("t", [b"a"]), 9)

    assert len(effects) == 1


def test_a_durable_append_asks_for_one_fsync_before_its_answer(node):
    node.create("t", flush_messages=1)

    [flush] = effects_of(node, node.produce_request("t", [b"a"]), 9)

    assert type(flush) is Flush
    assert node.log("t").segments.active.file in flush.files


def test_a_sealed_segment_is_synced_though_nobody_asked(node):
    node.create("t", internal_segment_bytes=150)
    node.produce("t", bytes(60))

    effects = effects_of(node, node.produce_request("t", [bytes(60)]), 9)

    assert [type(effect) for effect in effects].count(Flush) == 1


def test_a_brokers_setting_changed_while_it_runs_reaches_the_edge(node):
    request = node.alter_request(4, "1", {"max_connections": 5})
    node.flush_at_once = False
    effects = effects_of(node, request, 1)
    [flush] = effects
    for file in flush.files:
        file.sync()

    [change] = [e for e in node.node.step(Flushed(flush.token), node.now) if type(e) is Reconfigure]

    assert change.settings.max_connections == 5
    assert node.node.broker.live.current().max_connections == 5


def test_settings_come_from_the_strongest_place_that_has_one():
    node = SmallNode(max_connections="9")
    seen = [node.node.broker.live.current().max_connections]
    for name, value in (("", 8), ("1", 7), ("1", None), ("", None)):
        node.alter_broker(name, max_connections=value)
        seen.append(node.node.broker.live.current().max_connections)

    assert seen == [9, 8, 7, 8, 9]


def test_a_decision_that_cannot_be_written_is_raised_when_its_response_is_asked_for(node):
    node.disk.fill_up()

    wait = node.node.broker.decide(AllocateProducerIdsRequest(1, node.node.broker.lifecycle.epoch), node.now)

    assert wait.until()
    assert refusal(wait.then) is ErrorCode.KAFKA_STORAGE_ERROR


def test_its_cluster_id_is_that_of_its_directories(node):
    assert f"cluster.id={node.node.broker.cluster_id}".encode() in node.disk.read_file(
        "/data/meta.properties"
    )


# ── what a node waits for on its own account ─────────────────────────────────────────


def test_it_goes_on_when_a_wait_of_its_own_is_over(node):
    broker, found = node.node.broker, []

    broker.waiting.later(Wait.over(lambda: "now"), found.append)
    broker.waiting.later(Wait.over(lambda: Wait.over(lambda: "after another")), found.append)

    assert found == ["now", "after another"]


def test_a_wait_of_its_own_that_comes_to_nothing_is_reported(node, caplog):
    found = []

    with caplog.at_level(logging.WARNING):
        node.node.broker.waiting.later(
            Wait.failed(ErrorCode.NOT_COORDINATOR.error("elsewhere")), found.append
        )

    assert found == []
    assert "leaves undone" in caplog.text and "elsewhere" in caplog.text


def test_a_wait_of_its_own_outlives_every_connection(node):
    broker, found, doors = node.node.broker, [], []
    broker.waiting.later(
        Wait(("key",), lambda: bool(doors), NEVER, lambda: "in", lambda: "late"), found.append
    )

    node.step(Disconnected(1))
    doors.append("open")
    broker.step.touch("key")
    node.wake()

    assert found == ["in"]
