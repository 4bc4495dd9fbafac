"""Consumers are sent to the replica in their rack, where it has what they ask for."""

import pytest

from andiron.broker.replicas.preferred_read_replica import HERE, is_rack_aware, nearest
from worlds.cluster import SmallCluster
from worlds.cluster_client import create, fetch, isr, produce, read, ready, write

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class Racked(SmallCluster):
    """A rack for each node: node 1 in r1, and so on."""

    def start(self, number):
        self.more = {**self.more, "broker_rack": f"r{number}"}
        super().start(number)


@pytest.fixture
def cluster():
    made = ready(Racked((1, 2, 3, 4), voters=(4,), without_broker=(4,), replica_selector_class=RACK_AWARE))
    create(made, "t", (1, 2, 3))
    write(made, "t", b"a")
    made.pass_time(600)
    return made


@pytest.mark.parametrize(
    "selector, is_one",
    [(None, False), (RACK_AWARE, True), ("RackAwareReplicaSelector", True), ("com.example.Mine", False)],
)
def test_the_selector_that_goes_by_racks_is_known_by_its_name(selector, is_one):
    assert is_rack_aware(selector) is is_one


def test_a_consumer_is_sent_to_its_rack_and_reads_there(cluster):
    sent = fetch(cluster, "t", frm=1, rack_id="r3")

    assert (sent.preferred_read_replica, len(sent.records)) == (3, 0)
    assert read(cluster, "t", frm=3, rack_id="r3") == [b"a"]


@pytest.mark.parametrize("rack", ["", "r1", "nowhere"])
def test_who_is_near_the_leader_or_nobody_reads_from_the_leader(cluster, rack):
    answer = fetch(cluster, "t", frm=1, rack_id=rack)

    assert answer.preferred_read_replica == -1
    assert len(answer.records) > 0


def test_nobody_is_sent_to_a_replica_that_is_not_in_sync(cluster):
    cluster.cut |= {(1, 3), (3, 1)}
    cluster.until(lambda: isr(cluster, "t") == [1, 2])

    assert fetch(cluster, "t", frm=1, rack_id="r3").preferred_read_replica == -1


def test_nobody_is_sent_to_a_replica_that_does_not_have_what_is_asked_for(cluster):
    cluster.cut |= {(1, 3), (3, 1)}
    produce(cluster, "t", b"b", acks=1)
    partition, image = cluster.partition(1, "t"), cluster.broker(1).image

    assert nearest(partition, "r3", 1, image, 1) == 3
    assert nearest(partition, "r3", 2, image, 1) == HERE


def test_a_follower_sends_nobody_on(cluster):
    partition, image = cluster.partition(2, "t"), cluster.broker(2).image

    assert nearest(partition, "r3", 0, image, 2) == HERE


def test_without_the_selector_racks_are_not_looked_at():
    cluster = ready(Racked((1, 2, 3, 4), voters=(4,), without_broker=(4,)))
    create(cluster, "t", (1, 2, 3))
    write(cluster, "t", b"a")
    cluster.pass_time(600)

    assert fetch(cluster, "t", frm=1, rack_id="r3").preferred_read_replica == -1


def test_versions_that_know_no_racks_are_served_by_the_leader_alone(cluster):
    assert fetch(cluster, "t", frm=1, version=10, rack_id="r3").preferred_read_replica == -1
