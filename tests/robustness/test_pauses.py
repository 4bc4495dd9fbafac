"""Nodes that are held up (SIGSTOP, SIGCONT), as real processes under load: a pause is no silence (decisions/0022).

    who stands still     for longer than any patience    what becomes of it
    all nodes at once    and so has missed nothing       nothing: who led leads, who was in a group is in it
    a follower           of the leader of the metadata   the quorum does not notice
    the leader           of the metadata                 another leads, and goes on when it is back

Judged are epochs and what the metadata say, and never how long anything took. What was acknowledged is there after
each of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from kafka import KafkaConsumer

from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin, Election
from andiron.client.blocking.group_admin import GroupAdmin
from chaos.arena import RECORDS, Arena

pytestmark = pytest.mark.slow

SESSION_MS, PAUSE_S = 5_000, 7.0
SETTINGS = {
    "broker.session.timeout.ms": str(SESSION_MS),
    "controller.quorum.fetch.timeout.ms": "4000",  # nobody is starved for so long who is not stopped
    "replica.lag.time.max.ms": str(SESSION_MS),
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": str(SESSION_MS),
}
CLASSIC, CONSUMER = "classic", "consumer"  # the groups
MEMBERS = {CLASSIC: 1, CONSUMER: 2}


def are_stable(groups: GroupAdmin) -> bool:
    """Whether the groups are complete, and everybody has what is meant for it."""
    told = [groups.describe(name) for name in MEMBERS]
    return all(each.state == "Stable" and len(each.members) == MEMBERS[each.id] for each in told)


class ClassicMember(threading.Thread):
    """A member by the classic protocol. It leaves it to the coordinator whether its session is over; librdkafka's does
    not, and joins anew by itself."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(name=CLASSIC, daemon=True)
        self.over = threading.Event()
        self._told = {"bootstrap_servers": bootstrap.split(","), "group_id": CLASSIC}

    def run(self) -> None:
        consumer = KafkaConsumer(
            RECORDS, **self._told, session_timeout_ms=SESSION_MS, heartbeat_interval_ms=500
        )
        while not self.over.is_set():
            consumer.poll(200)
        consumer.close(autocommit=False)


class Order(NamedTuple):
    """Who leads what since when, and who is in which group: whatever a wrong judgement would change."""

    quorum: tuple[int, int]
    partitions: list[tuple[int, int, list[int]]]
    members: dict[str, set[str]]


class Held:
    """The arena, and what is done to its nodes."""

    def __init__(self, arena: Arena) -> None:
        self.arena, self.cluster = arena, arena.cluster

    def hold_up(self, *nodes: int) -> None:
        """Stop them for longer than anybody's patience, let them go on, and wait until all is well and all get on."""
        for node in nodes:
            self.cluster.pause(node)
        time.sleep(PAUSE_S)
        for node in nodes:
            self.cluster.resume(node)
        self.get_on()

    def get_on(self) -> None:
        """Until all replicas are in sync, and everybody has got on."""
        self.arena.settle()
        self.arena.wait_for_progress(50)

    def give_each_its_share(self) -> None:
        """Until each node leads something (so that none is fenced without a new epoch of a leader), and the groups are
        complete."""
        with Client(self.cluster.bootstrap) as client:
            ClusterAdmin(client).elect_leaders(Election.PREFERRED)
        self.get_on()
        self.cluster.wait_until(
            lambda client: are_stable(GroupAdmin(client)), "the groups did not form", 60.0
        )

    def quorum(self) -> tuple[int, int]:
        """Who leads the metadata, and in which epoch."""
        self.cluster.controller()
        with Client(self.cluster.bootstrap) as client:
            told = ClusterAdmin(client).describe_quorum()
        return told.leader_id, told.epoch

    def order(self) -> Order:
        with Client(self.cluster.bootstrap) as client:
            topic, groups = client.topic(RECORDS), GroupAdmin(client)
            return Order(
                self.quorum(),
                [(each.leader, each.epoch, sorted(each.isr)) for each in topic.partitions],
                {name: {each.id for each in groups.describe(name).members} for name in MEMBERS},
            )

    def check(self) -> None:
        """What was acknowledged is there."""
        verdict = self.arena.check()
        assert verdict.is_good, str(verdict)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    with Arena(tmp_path_factory.mktemp("paused"), rate=50.0, transactions=False, settings=SETTINGS) as arena:
        held, member = Held(arena), ClassicMember(arena.cluster.bootstrap)
        member.start()
        yield held
        member.over.set()
        verdict = arena.finish()
        member.join(30)
    assert verdict.is_good, str(verdict)


@pytest.fixture
def held(shared: Held) -> Held:
    shared.get_on()
    return shared


def test_nothing_changes_when_all_nodes_were_held_up_at_once(held: Held) -> None:
    held.give_each_its_share()
    before = held.order()
    assert {leader for leader, _, _ in before.partitions} == set(held.cluster.ids)

    held.hold_up(*held.cluster.ids)

    assert held.order() == before
    held.check()


def test_a_node_that_was_held_up_does_not_depose_the_leader_of_the_metadata(held: Held) -> None:
    leader, _ = before = held.quorum()

    held.hold_up(next(node for node in held.cluster.ids if node != leader))

    assert held.quorum() == before
    held.check()


def test_a_leader_of_the_metadata_that_is_held_up_is_replaced_and_follows_when_it_is_back(held: Held) -> None:
    leader, epoch = held.quorum()

    held.cluster.pause(leader)
    held.cluster.wait_until(
        lambda client: ClusterAdmin(client).describe_quorum().leader_id != leader, "nobody replaced it", 60.0
    )
    after = held.quorum()
    held.cluster.resume(leader)
    held.get_on()

    assert after[0] != leader and after[1] > epoch
    assert held.quorum() == after
    held.check()
