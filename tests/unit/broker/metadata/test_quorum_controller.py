"""The controller of a node: active where the metadata log is led, made out of that log, and gone with the lead."""

import pytest

from andiron.model.effects import Disconnected
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Address
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from worlds.cluster_client import create, small_cluster

NODES = [1, 2, 3]


@pytest.fixture
def cluster():
    return small_cluster()


def of(cluster, number):
    return cluster.broker(number).controller


def allocation(cluster, number):
    return AllocateProducerIdsRequest(number, cluster.broker(number).lifecycle.epoch)


def test_the_controller_is_where_the_log_is_led_and_nowhere_else(cluster):
    assert {n: of(cluster, n).is_active for n in NODES} == {n: n == cluster.controller for n in NODES}


def test_everybody_knows_where_the_controller_is_asked(cluster):
    controller = cluster.controller

    rafts = [cluster.broker(n).raft for n in NODES]
    assert {raft.address_of(raft.leader) for raft in rafts} == {Address(f"node-{controller}", 9093)}


def test_elsewhere_nothing_is_decided(cluster):
    other = next(n for n in NODES if n != cluster.controller)

    with pytest.raises(ProtocolError) as caught:
        of(cluster, other).decide(allocation(cluster, other), cluster.now, 1_000)
    assert caught.value.code is ErrorCode.NOT_CONTROLLER


def test_a_node_that_begins_to_lead_makes_its_controller_out_of_the_log(cluster):
    create(cluster, "t")
    before = cluster.controller
    cluster.kill(before)
    cluster.until(lambda: cluster.controller not in (None, before))

    controller = of(cluster, cluster.controller)._shard.machine

    assert "t" in controller.image.topics
    assert sorted(controller.image.brokers) == NODES


def test_who_waits_for_a_controller_that_is_none_any_more_hears_so(cluster):
    before = cluster.controller
    cluster.isolate(before)
    wait = of(cluster, before).decide(allocation(cluster, before), cluster.now, 60_000)
    assert not wait.until()
    cluster.pass_time(8_000)

    assert wait.until()
    with pytest.raises(ProtocolError) as caught:
        wait.then()
    assert caught.value.code is ErrorCode.NOT_CONTROLLER


def test_what_the_controller_cannot_write_is_tried_again_a_while_later_whoever_else_asks(node, monkeypatch):
    """A node whose disk is full would do nothing else."""

    def full(*_):
        raise ErrorCode.KAFKA_STORAGE_ERROR.error("no space left")

    controller, now = node.node.broker.controller, node.now
    monkeypatch.setattr(controller._shard, "run", full)
    monkeypatch.setattr(controller._shard.machine, "next_deadline", lambda: now)
    controller._due = now
    controller.tick(now)
    with pytest.raises(ProtocolError):
        controller.decide(object(), now, 0)

    assert controller.next_deadline() > now


def test_a_follower_of_the_metadata_is_seen_by_the_controller():
    broker = small_cluster((1, 2), voters=(2,), without_broker=(2,)).broker(2)
    end = broker.raft.partition.log.end

    broker.controller.fetched_by(17, end, 99, broker.step.now)

    assert broker.raft.observers[17].offset == end


def test_a_node_whose_connection_breaks_and_who_does_not_come_back_is_fenced_at_once(cluster):
    gone = next(n for n in NODES if n != cluster.controller)
    cluster.kill(gone)
    began = cluster.now

    cluster.until(lambda: cluster.image.brokers[gone].fenced)

    assert cluster.now - began < 1_000


def test_a_node_that_comes_back_in_time_is_not_fenced(cluster):
    other = next(n for n in NODES if n != cluster.controller)
    leader = cluster.members[cluster.controller]
    who = next(who for who in leader.conns if who[0] == other and who[2] == "metadata")
    cluster._step(leader, Disconnected(leader.conns.pop(who)))  # and its next fetch comes over another

    cluster.pass_time(5_000)

    assert not cluster.image.brokers[other].fenced
