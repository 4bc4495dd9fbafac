"""When the short way is taken, and when not."""

import pytest

from andiron.broker.shortcut import Shortcut
from andiron.model.effects import Disconnected
from andiron.model.errors import ErrorCode
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
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
