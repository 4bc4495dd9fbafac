"""A leader that does not know yet what is committed says OFFSET_NOT_AVAILABLE: clients ask again, and miss nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from peers import clients
from peers.clients import Client, Record, Refused
from peers.clients.base import EARLIEST, LATEST
from peers.marks import each_client
from peers.unsure import UnsureNode
from peers.waiting import eventually

RECORDS = [Record(b"k", b"%d" % number) for number in range(50)]
OFFSET_NOT_AVAILABLE = 78


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UnsureNode]:
    with UnsureNode(tmp_path_factory.mktemp("unsure")) as node:
        yield node


@pytest.fixture
def topic(node: UnsureNode, name: str) -> str:
    clients.connect("confluent", node.bootstrap).create_topic(name, 1, 1)
    return name


def while_unsure(node: UnsureNode, times: int, ask: Any, *args: Any, **how: Any) -> Any:
    """Ask while the node does not know; after so many questions it does. What is answered in the end."""
    node.forget()
    try:
        with ThreadPoolExecutor(1) as pool:
            asking = pool.submit(ask, *args, **how)
            eventually(lambda: node.asked >= times or asking.done())
            node.remember()
            return asking.result(60)
    finally:
        node.remember()


@each_client("write", "read")
def test_a_consumer_asks_again_until_it_is_known(client: Client, node: UnsureNode, topic: str) -> None:
    client.write(topic, RECORDS)

    read = while_unsure(node, 3, client.read, topic, end=len(RECORDS))

    assert [record.value for record in read] == [record.value for record in RECORDS]


@each_client("write", "list_offset")
def test_the_end_of_a_log_is_told_right_or_not_at_all(client: Client, node: UnsureNode, topic: str) -> None:
    """Java asks again; other libraries pass Kafka's error on. Where the log begins is known all the time."""
    client.write(topic, RECORDS)
    try:
        end = while_unsure(node, 2, client.list_offset, topic, 0, LATEST)
    except Refused as refused:
        assert refused.code == OFFSET_NOT_AVAILABLE
    else:
        assert end == len(RECORDS)
    node.forget()
    try:
        assert client.list_offset(topic, 0, EARLIEST) == 0
    finally:
        node.remember()
