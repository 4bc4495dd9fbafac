"""The controller learns in which directory each replica lies, and which disk has failed."""

from andiron.broker.node.waiting import Wait
from andiron.broker.replicas.directory_assignments import DirectoryAssignments
from andiron.controller.image import LOST
from worlds.cluster_client import create, produce, small_cluster, write

A, B = b"a" * 16, b"b" * 16
ID = b"t" * 16


class Asked:
    """A controller that answers when the test says so."""

    def __init__(self, epoch=5):
        self.requests, self._then = [], None
        self.me, self.epoch, self.now = 1, epoch, 0
        self.places = DirectoryAssignments(lifecycle=self, channel=self, step=self)

    def decide(self, request, now, timeout_ms):
        self.requests.append(request)
        return Wait.over(lambda: None)

    def later(self, wait, then):
        self._then = wait, then

    def answer(self, response="yes"):
        _, then = self._then
        then(response)

    def refuse(self):
        wait, then = self._then
        wait.then = lambda: None  # what `or_else` makes of an error
        then(None)

    def told(self):
        """What the last request says: directory → replicas."""
        return {
            directory.id: [
                (topic.topic_id, part.partition_index)
                for topic in directory.topics
                for part in topic.partitions
            ]
            for directory in self.requests[-1].directories
        }


def test_what_is_where_the_metadata_says_is_not_told():
    asked = Asked()
    asked.places.found(ID, 0, A, A)
    asked.places.send(0)

    assert asked.requests == []


def test_what_lies_elsewhere_is_told_directory_by_directory():
    asked = Asked()
    asked.places.found(ID, 0, A, B)
    asked.places.found(ID, 1, B, A)
    asked.places.lost(ID, 2)
    asked.places.send(0)

    assert asked.told() == {A: [(ID, 0)], B: [(ID, 1)], LOST: [(ID, 2)]}
    assert (asked.requests[0].broker_id, asked.requests[0].broker_epoch) == (1, 5)


def test_a_broker_that_is_not_registered_says_nothing_yet():
    asked = Asked(epoch=-1)
    asked.places.found(ID, 0, A, B)
    asked.places.send(0)
    assert asked.requests == []

    asked.epoch = 5
    asked.places.send(0)
    assert len(asked.requests) == 1


def test_what_comes_up_meanwhile_goes_out_in_the_next():
    asked = Asked()
    asked.places.found(ID, 0, A, B)
    asked.places.send(0)
    asked.places.found(ID, 1, A, B)
    asked.places.send(0)
    assert len(asked.requests) == 1

    asked.answer()

    assert len(asked.requests) == 2
    assert asked.told() == {A: [(ID, 1)]}


def test_what_could_not_be_told_is_told_with_the_next():
    asked = Asked()
    asked.places.found(ID, 0, A, B)
    asked.places.send(0)
    asked.refuse()
    asked.places.lost(ID, 1)
    asked.places.send(0)

    assert asked.told() == {A: [(ID, 0)], LOST: [(ID, 1)]}


def test_a_replica_whose_disk_fails_is_led_by_another():
    cluster = small_cluster()
    create(cluster, "t", (1, 2, 3), flush_messages=1)
    write(cluster, "t", b"a")
    cluster.fail_syncs(1, "/data/t-0")

    produce(cluster, "t", b"b", acks=1)
    cluster.until(lambda: cluster.leader_of("t") in (2, 3))

    assert 1 not in cluster.image_of("t").isr
    assert write(cluster, "t", b"c") >= 1
