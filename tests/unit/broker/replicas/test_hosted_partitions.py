"""The table of partitions: those that are open, and those that will not open."""

from andiron.broker.replicas.hosted_partitions import HostedPartitions
from andiron.model.ids import TopicPartition


def test_what_will_not_open_is_named_beside_what_is_open():
    hosted = HostedPartitions()
    hosted["t", 0] = "open"
    hosted.unopened[TopicPartition("t", 1)] = "no space left on device"

    assert list(hosted.values()) == ["open"]
    assert list(hosted.unopened) == [TopicPartition("t", 1)]
