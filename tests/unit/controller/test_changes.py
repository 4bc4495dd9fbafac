"""One decision's changes to partitions see each other."""

from __future__ import annotations

from andiron.controller.changes import PartitionChanges
from andiron.controller.standing import Standing
from controller.cluster import Cluster


def test_a_partition_is_seen_as_changed_by_the_same_decision():
    cluster = Cluster(3)
    cluster.place("t", [1, 2, 3])
    topic = cluster.image.topics["t"]
    changes = PartitionChanges(Standing(cluster.image), cluster.settings)

    changes.settle(topic, 0, changes.state(topic, 0)._replace(isr=(1, 2)))
    after = changes.settle(topic, 0, changes.state(topic, 0)._replace(isr=(1,)))

    assert after.partition_epoch == 2
    assert cluster.partition("t").isr == (1, 2, 3)
    cluster.append(changes.records)
    assert cluster.partition("t") == after


def test_what_stays_as_it_was_has_no_record():
    cluster = Cluster(1)
    cluster.create("t")
    topic = cluster.image.topics["t"]
    changes = PartitionChanges(Standing(cluster.image), cluster.settings)

    assert changes.settle(topic, 0, topic.partitions[0]) is topic.partitions[0]
    assert changes.records == []
