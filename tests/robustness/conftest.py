"""A real process to be mistreated, and the question that is asked after each test: is it unharmed?"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from andiron.model.errors import ErrorCode
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
    """Write one record; the offset it got.

    Among valid requests is the one that unregisters the broker. It does as told, comes back by itself, and says
    until then what makes any client try again.
    """
    until = time.monotonic() + 60
    while True:
        answer = frames.read_produce(
            link.ask(frames.produce(TOPIC, {0: frames.batch([b"control"])}, acks=-1))
        )
        error, offset = answer[0]
        if error != ErrorCode.NOT_LEADER_OR_FOLLOWER.number or time.monotonic() > until:
            assert error == 0
            return offset
        time.sleep(0.05)
