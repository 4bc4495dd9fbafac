"""Which fault comes in which round: drawn from a seed, so that a round can be played again.

    whom   leader      of a partition that is written to        how   kill, pause, cut, restart
           follower    one of its in-sync followers
           controller  who leads the metadata
           two         the leader and a follower at once: nobody can write until one is back, and nothing may be lost
           all         rolling: one after the other, in order, each when the one before is back; or all at once by kill

Read next: arena.py, where a round is played.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

NODE_FAULTS = ("kill", "pause", "cut", "restart")
WHOM = ("leader", "follower", "controller")
ROLLING, ALL_AT_ONCE = "rolling restart", "kill all"
TWO = ("kill+kill", "kill+cut", "cut+kill", "pause+kill", "cut+pause", "pause+cut")


class Round(NamedTuple):
    """One fault, and how long it lasts."""

    number: int
    whom: str
    how: str
    partition: int
    seconds: float

    def __str__(self) -> str:
        return f"round {self.number}: {self.how} {self.whom} {self.seconds:.1f} s"


def rounds(seed: int, count: int, partitions: int, only: str | None = None) -> Iterator[Round]:
    """So many rounds; `only` keeps those whose fault is named so."""
    chance = random.Random(seed)
    number = 0
    while number < count:
        kind = chance.random()
        if kind < 0.12:
            whom, how = "all", chance.choice([ROLLING, ALL_AT_ONCE])
        elif kind < 0.24:
            whom, how = "two", chance.choice(TWO)
        else:
            whom, how = chance.choice(WHOM), chance.choice(NODE_FAULTS)
        # Shorter than a session and longer: a fault that is not even noticed, and one that is.
        seconds = chance.choice([0.3, 1.0, 2.5, 5.0, 8.0]) * chance.uniform(0.8, 1.2)
        partition = chance.randrange(partitions)
        if only is None or only in (how, f"{how} {whom}"):
            number += 1
            yield Round(number, whom, how, partition, seconds)
