"""When the short way is taken, and when not."""

import pytest

from andiron.broker.node.shortcut import Shortcut
from andiron.model.effects import Disconnected
from andiron.model.errors import ErrorCode
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from worlds.coordinating import OFFSETS, TRANSACTIONS, add_request, begun, coordinating, write
from worlds.node import SmallNode


@pytest.fixture
def taken(monkeypatch):
    """What the short way made of each request that came to it: an answer or None."""
    answers = []
    take = Shortcut.take

    def noted(self, *args):
        answers.append(take(self, *args))
        return answers[-1]

    monkeypatch.setattr(Shortcut, "take", noted)
    return answers


@pytest.fixture
def node():
    node = SmallNode()
    node.create("orders", 2)
    return node


@pytest.mark.parametrize("version", [5, 8, 9, 12])
def test_a_producer_that_repeats_itself_takes_it(node, taken, version):
    offsets = [node.produce("orders", b"v", version=version).base_offset for _ in range(3)]

    assert offsets == [0, 1, 2]
    assert len(taken) == 2
    assert None not in taken


def test_records_may_be_of_any_size(node, taken):
    for size in (1, 200, 20_000, 3):
        assert node.produce("orders", bytes(size)).error_code == 0
    assert None not in taken


def test_another_partition_goes_the_long_way_first(node, taken):
    node.produce("orders", b"v")

    assert node.produce("orders", b"v", partition=1).base_offset == 0
    assert node.produce("orders", b"w", partition=1).base_offset == 1
    assert [answer is not None for answer in taken] == [False, True]


def test_what_is_refused_is_refused_alike(node, taken):
    node.produce("orders", b"v")
    broken = bytearray(node.produce_request("orders", [b"v"]).topic_data[0].partition_data[0].records)
    broken[-1] ^= 1

    answer = node.produce("orders", records=broken)
    assert (answer.error_code, answer.base_offset) == (2, -1)
    assert "checksum" in answer.error_message
    assert None not in taken


def test_a_topic_that_is_gone_is_not_written_to(node, taken):
    node.produce("orders", b"v")
    node.ask(DeleteTopicsRequest([DeleteTopicState("orders")]))

    assert node.produce("orders", b"v").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number
    assert taken[-1] is None


def test_what_must_wait_for_the_disk_goes_the_long_way(node, taken):
    node.produce("orders", b"v")
    change = AlterableConfig("flush.messages", 0, "1")
    node.ask(IncrementalAlterConfigsRequest([AlterConfigsResource(2, "orders", [change])]))
    node.flush_at_once = False
    ticket = node.send(node.produce_request("orders", [b"v"]), 9)

    assert taken[-1] is None
    assert node.answer(ticket) is None
    node.do_flushes()
    assert node.answer(ticket).responses[0].partition_responses[0].base_offset == 1


def test_acks_0_and_old_versions_have_none(node, taken):
    for _ in range(2):
        node.ask(node.produce_request("orders", [b"v"], acks=0), 9)
        node.produce("orders", b"v", version=3)
    assert taken == []


def test_a_connection_that_is_gone_leaves_none_behind(node):
    node.produce("orders", b"v")
    node.step(Disconnected(1))

    assert node.node._shortcuts == {}


# ── what never takes it ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", [5, 9, 12])
def test_requests_of_a_transaction_never_do(taken, version):
    node = coordinating()
    producer = begun(node)
    node.ask(add_request(producer), 3)

    offsets = [write(node, producer, version=version, sequence=number).base_offset for number in range(3)]

    assert offsets == [0, 1, 2]
    assert taken == []


def test_a_batch_of_a_transaction_that_comes_the_short_way_is_sent_the_long_one(node, taken):
    node.produce("orders", b"v")
    in_transaction = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "transactional": True}

    answer = node.produce("orders", b"v", **in_transaction)

    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.number
    assert taken == [None]


@pytest.mark.parametrize("topic", [OFFSETS, TRANSACTIONS])
def test_internal_topics_have_none(taken, topic):
    node = coordinating()
    request = node.produce_request(topic, [], records=node.keyed(b"k", b"v"))

    for client_id in ("__admin_client", "anybody", "__admin_client"):
        node.ask(request, 9, client_id=client_id)

    assert taken == []
    assert node.log(topic).end == 2
