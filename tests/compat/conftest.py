"""The node under test, and the clients that test it.

The tests of this folder speak to a server only through real clients. By default that is an Andiron node; with
`ANDIRON_TEST_PEER=kafka` it is Apache Kafka itself, which is how the tests are held to the truth: whatever
they ask of us, they have seen Kafka do.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator

import pytest

from peers import clients, jars
from peers.clients import Client
from peers.clients.base import LATEST
from peers.folders import Written, fill
from peers.kafka import Kafka
from peers.node import Node
from peers.process import Server
from peers.waiting import eventually

PEER = os.environ.get("ANDIRON_TEST_PEER", "andiron")
NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server_kind() -> type[Node] | type[Kafka]:
    """What is under test."""
    kinds: dict[str, type[Node] | type[Kafka]] = {"andiron": Node, "kafka": Kafka}
    return kinds[PEER]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory, server_kind: type[Node] | type[Kafka]) -> Iterator[Server]:
    """One server for all tests of this process; each test has topics of its own."""
    with server_kind(tmp_path_factory.mktemp("node")) as server:
        yield server


@pytest.fixture(scope="session")
def kafka_written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A data folder that Apache Kafka filled and left in good order."""
    try:
        with Kafka(tmp_path_factory.mktemp("kafka")) as kafka:
            return fill(kafka)
    except jars.Missing as why:
        pytest.skip(str(why))


@pytest.fixture
def connect(node: Server) -> Callable[[str], Client]:
    """A client by name; the test is skipped, saying why, where it cannot be had."""

    def connect_to(name: str) -> Client:
        try:
            return clients.connect(name, node.bootstrap)
        except jars.Missing as why:
            pytest.skip(str(why))

    return connect_to


@pytest.fixture
def client(request: pytest.FixtureRequest, connect: Callable[[str], Client]) -> Client:
    """The client a test is parametrized with; see `each_client`."""
    return connect(request.param)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses, telling which test it is from."""
    return f"{request.node.originalname.removeprefix('test_')[:60]}-{os.getpid()}-{next(NUMBERS)}"


@pytest.fixture
def make_topic(node: Server, name: str) -> Callable[..., str]:
    """Create a topic of this test's own; a second call makes a second one."""
    given = clients.connect("confluent", node.bootstrap)
    made = itertools.count()

    def make(partitions: int = 1, **configs: str) -> str:
        topic = f"{name}-{next(made)}"
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        given.create_topic(topic, partitions, 1, {"retention.ms": "-1", **settings})
        eventually(lambda: all(given.list_offset(topic, each, LATEST) == 0 for each in range(partitions)))
        return topic

    return make
