"""What is throttled while replicas move: the old ones as they send, the new ones as they take in."""

from __future__ import annotations

from andiron.client.core.reassignments import Change
from andiron.client.core.throttles import rates, throttled_brokers, throttled_replicas
from andiron.model.ids import TopicPartition

MOVES = [
    Change(TopicPartition("t", 0), [1, 2], [2, 3]),
    Change(TopicPartition("t", 1), [2, 3], [3, 2]),  # another order alone: nothing is copied
    Change(TopicPartition("u", 5), [4], [4, 1]),
]


def test_old_replicas_send_and_added_ones_take_in() -> None:
    assert throttled_replicas(MOVES) == {
        "t": {
            "leader.replication.throttled.replicas": "0:1,0:2",
            "follower.replication.throttled.replicas": "0:3",
        },
        "u": {
            "leader.replication.throttled.replicas": "5:4",
            "follower.replication.throttled.replicas": "5:1",
        },
    }


def test_brokers_that_neither_send_nor_take_in_are_left_alone() -> None:
    assert throttled_brokers(MOVES) == [1, 2, 3, 4]
    assert throttled_brokers(MOVES[1:2]) == []


def test_both_directions_have_the_same_rate() -> None:
    assert set(rates(1000).values()) == {"1000"}
    assert len(rates(1000)) == 2
