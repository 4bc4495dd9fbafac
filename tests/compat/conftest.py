"""The node under test, and the clients that test it.

The tests of this folder speak to a server only through real clients. By default that is an Andiron node; with
`ANDIRON_TEST_PEER=kafka` it is Apache Kafka itself, which is how the tests are held to the truth: whatever
they ask of us, they have seen Kafka do.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import pytest

from peers import clients, jars
from peers.asking import Asker
from peers.clients import Client
from peers.clients.base import LATEST
from peers.kafka import Kafka
from peers.members.group import Group
from peers.node import Node
from peers.process import Server
from peers.transactors import Transactor
from peers.waiting import eventually
from peers.written import Written, fill

PEER = os.environ.get("ANDIRON_TEST_PEER", "andiron")
NUMBERS = itertools.count()
UNKNOWN_MEMBER_ID = 25
# Groups that move within moments, few partitions to keep them in, and an end to their growth.
GROUP_SETTINGS = {
    "offsets.topic.num.partitions": "5",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.max.size": "12",
    "group.consumer.max.size": "12",
    "group.consumer.min.session.timeout.ms": "3000",
    "group.consumer.session.timeout.ms": "5000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.regex.refresh.interval.ms": "10000",
}
# Transactions that are timed out when their time is over, and few partitions to keep them in.
TRANSACTION_SETTINGS = {
    "transaction.state.log.num.partitions": "5",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
SETTINGS = GROUP_SETTINGS | TRANSACTION_SETTINGS


@pytest.fixture(scope="session")
def server_kind() -> type[Node] | type[Kafka]:
    """What is under test."""
    kinds: dict[str, type[Node] | type[Kafka]] = {"andiron": Node, "kafka": Kafka}
    return kinds[PEER]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory, server_kind: type[Node] | type[Kafka]) -> Iterator[Server]:
    """One server for all tests of this process; each test has topics of its own."""
    with server_kind(tmp_path_factory.mktemp("node"), settings=SETTINGS) as server:
        yield server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """A test that finds a client missing on the way is skipped, saying why."""
    try:
        return (yield)
    except jars.Missing as why:
        pytest.skip(str(why))


pytest_runtest_setup = pytest_runtest_call  # and so is a test whose fixtures do


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
def transactor(node: Server) -> Iterator[Callable[..., Transactor]]:
    """Start a transactional producer of a library in a process of its own, which ends with the test."""
    with contextlib.ExitStack() as started:

        def start(library: str, transactional_id: str, **settings: int) -> Transactor:
            one = started.enter_context(Transactor(library, node.bootstrap))
            return one.open(transactional_id, **settings)

        yield start


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
        # In this order: librdkafka would remember for long that a partition had no leader.
        eventually(lambda: set(given.describe_topic(topic).values()) == {1})
        eventually(lambda: all(given.list_offset(topic, each, LATEST) == 0 for each in range(partitions)))
        return topic

    return make


@pytest.fixture(scope="session")
def asking_port(node: Server) -> int:
    """Where to ask by hand, once every coordinator is there."""

    def all_there() -> bool:
        with Asker(node.port) as asker:
            names = [f"early-{number}" for number in range(30)]
            asker.ask("find_coordinator", 4, key_type=0, coordinator_keys=names)
            place = {"generation_id": 1, "member_id": "nobody"}
            answers = {asker.ask("heartbeat", 4, group_id=name, **place).error_code for name in names}
        return answers == {UNKNOWN_MEMBER_ID}

    eventually(all_there)
    return node.port


@pytest.fixture
def asker(asking_port: int) -> Iterator[Asker]:
    """A connection that says what no client would."""
    with Asker(asking_port) as link:
        yield link


@pytest.fixture
def make_group(node: Server, name: str, make_topic: Callable[..., str]) -> Iterator[Callable[..., Group]]:
    """A group over topics of so many partitions each, or over those named; who is still in it goes in the end."""
    made: list[Group] = []

    def make(*partitions: int, named: Mapping[str, int] | None = None) -> Group:
        topics = named or {make_topic(count): count for count in partitions}
        group = Group(node, f"{name}-group-{len(made)}", topics)
        made.append(group)
        return group

    yield make
    for group in made:
        group.close()
