"""Both coordinators hear of the partitions that they live in, and of no others."""

from types import SimpleNamespace

from andiron.broker.coordinators.coordinators import Coordinators


class Shards:
    """The machines of one topic; notes which partitions they are told of."""

    def __init__(self, topic):
        self.topic, self.followed = topic, []

    def follow(self, partition, now):
        self.followed.append((partition.name.topic, now))


def test_each_is_told_of_its_own_partitions():
    groups, transactions = Shards("__consumer_offsets"), Shards("__transaction_state")
    both = Coordinators(SimpleNamespace(shards=groups), SimpleNamespace(shards=transactions))

    for topic in ("orders", "__transaction_state", "__consumer_offsets"):
        both.follow(SimpleNamespace(name=SimpleNamespace(topic=topic)), 5)

    assert groups.followed == [("__consumer_offsets", 5)]
    assert transactions.followed == [("__transaction_state", 5)]
