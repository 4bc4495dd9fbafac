import pytest

from andiron.model.ids import NodeId
from andiron.sim.invariants.service import InSyncAreInService
from andiron.sim.watcher import End, Violation


def told(trio):
    """What the newest metadata says, to be changed."""
    image = trio.law(InSyncAreInService)._newest._image
    return image, image.topics["orders"].partitions


def look(trio):
    law = trio.law(InSyncAreInService)
    law._applied = -1
    law.stepped(trio.leader())


def make_eligible(partitions, node):
    isr = tuple(each for each in partitions[0].isr if each != node)
    partitions[0] = partitions[0]._replace(isr=isr, elr=(node,))


def test_a_broker_that_is_killed_and_comes_back_is_in_sync_again(trio):
    trio.create(min_insync_replicas=2)
    follower = trio.followers()[0]
    follower.kill()
    trio.run(3_000)
    assert NodeId(follower.number) in trio.law(InSyncAreInService)._ended
    follower.start()
    trio.run(10_000)
    assert trio.law(InSyncAreInService)._ended == {}
    assert len(told(trio)[1][0].isr) == 3


def test_one_in_sync_that_is_fenced_is_noticed(trio):
    trio.create()
    image, _ = told(trio)
    node = NodeId(trio.followers()[0].number)
    image.brokers[node] = image.brokers[node]._replace(fenced=True)
    with pytest.raises(Violation, match=f"orders-0: node-{node} is in sync, and fenced"):
        look(trio)


def test_one_that_is_eligible_still_in_its_next_life_is_noticed(trio):
    trio.create()
    image, partitions = told(trio)
    host = trio.followers()[0]
    node = NodeId(host.number)
    trio.law(InSyncAreInService).went_down(host, End.KILLED)
    before = image.brokers[node]
    make_eligible(partitions, node)
    look(trio)  # while it is away it may be

    image.brokers[node] = before._replace(epoch=before.epoch + 1, fenced=True)
    with pytest.raises(Violation, match=f"orders-0: node-{node}, which was killed, is eligible"):
        look(trio)


def test_one_that_has_served_since_may_be_eligible_again(trio):
    trio.create()
    image, partitions = told(trio)
    host = trio.followers()[0]
    node = NodeId(host.number)
    trio.law(InSyncAreInService).went_down(host, End.KILLED)
    image.brokers[node] = image.brokers[node]._replace(epoch=image.brokers[node].epoch + 1)
    look(trio)

    image.brokers[node] = image.brokers[node]._replace(fenced=True)
    make_eligible(partitions, node)
    look(trio)


def test_one_that_was_not_let_in_again_had_nothing_to_lose(trio):
    trio.create()
    host = trio.followers()[0]
    host.node.broker.lifecycle.epoch = -1
    trio.law(InSyncAreInService).went_down(host, End.POWER_LOST)
    assert trio.law(InSyncAreInService)._ended == {}
