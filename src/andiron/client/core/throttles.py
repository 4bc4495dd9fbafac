"""Replication throttles (KIP-73): how fast replicas that are being reassigned may be copied.

    on each broker    leader.replication.throttled.rate      bytes a second that it sends of throttled replicas
                      follower.replication.throttled.rate    … and that it takes in
    on each topic     leader.replication.throttled.replicas      which they are: partition:broker,…
                      follower.replication.throttled.replicas

A move is copied from whoever has the partition now to whoever gets it. So before it starts, the old replicas
are throttled as leaders and the added ones as followers; replicas that stay in sync meanwhile are not.

The law: a throttle outlives the move that it was made for. Whoever sets one must take it away when the moves
are done, or the next broker that falls behind will never catch up.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.client.core.reassignments import Change

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = (LEADER_RATE, FOLLOWER_RATE)
REPLICAS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)


def rates(bytes_per_second: int) -> dict[str, str]:
    """The settings of a broker that takes part."""
    return dict.fromkeys(RATES, str(bytes_per_second))


def throttled_brokers(moves: Iterable[Change]) -> list[int]:
    """The brokers that send or take in what is moved."""
    return sorted({each for move in moves if move.added for each in (*move.before, *move.added)})


def throttled_replicas(moves: Iterable[Change]) -> dict[str, dict[str, str]]:
    """The settings of each topic of which something is moved."""
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    for (topic, number), before, added in ((each.partition, each.before, each.added) for each in moves):
        if added:
            leaders.setdefault(topic, []).extend(f"{number}:{each}" for each in before)
            followers.setdefault(topic, []).extend(f"{number}:{each}" for each in added)
    return {
        topic: {LEADER_REPLICAS: ",".join(leaders[topic]), FOLLOWER_REPLICAS: ",".join(followers[topic])}
        for topic in leaders
    }
