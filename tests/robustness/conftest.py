"""A real process to be mistreated, and the question that is asked after each test: is it unharmed?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from peers import frames
from peers.node import Node
from peers.raw import Raw

TOPIC = "control"


@pytest.fixture(scope="module")
def shared_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with Node(tmp_path_factory.mktemp("node")) as running:
        with Raw(running.port) as link:
            link.ask(frames.create_topics({TOPIC: 1}))
        yield running


@pytest.fixture
def node(shared_node: Node) -> Iterator[Node]:
    """A node with a topic `control`, and a connection that is served before and after the test."""
    with Raw(shared_node.port) as control:
        before = produced(control)
        yield shared_node
        assert produced(control) >= before + 1
    assert shared_node.running
    assert "Traceback" not in shared_node.printed()


def produced(link: Raw) -> int:
    """Write one record; the offset it got."""
    answer = frames.read_produce(link.ask(frames.produce(TOPIC, {0: frames.batch([b"control"])}, acks=-1)))
    error, offset = answer[0]
    assert error == 0
    return offset
