"""How bad it gets: which faults there are, how often they strike, and whether a majority is left alone.

    network   connections cut; frames that take seconds; rifts between machines
    disk      full for a while, of bytes or of files; slow to sync; unable to sync
    process   stopped, killed or paused, one or several at once or one after the other
    machine   the power goes; bits turn over while it is off; its clock jumps

A cluster that is always without a majority proves nothing but that it waits; one that always has one is never near
the edge. So most moods spare a majority, of those who vote and of those who hold partitions, and the storm does not.

Some faults meet only once in many thousands of histories: a flush of a follower's that cannot begin, a leader that
takes a broker's earlier incarnation for its present one. Moods of one kind of fault, one upon the other, bring these
about; no seed falls into them by itself, they are asked for (`--mood`). A flush cannot begin where records were
appended and the leader epochs, a file of their own, cannot be written: almost never on a disk that is full to the byte,
and at any change of leader on one without inodes. In small slices every request of several entries is done in several
steps (broker/node/slice_sizes.py), with the requests of others in between.

Bits turn over only where a node is by itself: what a replica has lost without noticing, no cluster can make good.

Read next: weather.py.
"""

from __future__ import annotations

from typing import NamedTuple


class Mood(NamedTuple):
    """How bad it gets."""

    name: str
    calm_ms: int  # between two faults, on average
    faults: tuple[str, ...]  # drawn from evenly
    rot: float = 0.0  # chance of turned bits each time that a node is down
    spares: bool = True  # a majority
    slice: int = 1_000  # entries of a request that are done in one step, at most


NETWORK = ("cut", "cut", "lag")
DISK = ("full", "slow")
PROCESS = ("stop", "kill", "kill")
MACHINE = ("power", "power", "jump", "dead disk")
BETWEEN = ("rift", "rift", "pause")

MOODS = (
    Mood("calm", 10_000, ("cut",)),
    Mood("breeze", 4_000, (*NETWORK, *DISK)),
    Mood("showers", 6_000, (*NETWORK, *DISK, *PROCESS)),
    Mood("gale", 8_000, (*PROCESS, *MACHINE)),
    Mood("storm", 4_000, (*NETWORK, *DISK, *PROCESS, *MACHINE, *MACHINE), rot=0.2),
)

CLUSTER_MOODS = (
    Mood("calm", 10_000, ("cut",)),
    Mood("rolling", 15_000, ("roll", *NETWORK)),
    Mood("breeze", 4_000, (*NETWORK, *DISK, "pause")),
    Mood("rifts", 4_000, (*NETWORK, *BETWEEN, *BETWEEN)),
    Mood("showers", 5_000, (*NETWORK, *DISK, *BETWEEN, *PROCESS)),
    Mood("gale", 6_000, (*BETWEEN, *PROCESS, *MACHINE)),
    Mood("storm", 4_000, (*NETWORK, *DISK, *BETWEEN, *PROCESS, *MACHINE, "crowd", "crowd"), spares=False),
)

SINGLE_MINDED = {
    mood.name: mood
    for mood in (
        Mood("full-disks", 1_500, ("full", "full", "kill", "stop")),
        Mood("no-inodes", 1_500, ("no inodes", "no inodes", "kill", "stop")),
        Mood("short-lives", 1_500, ("kill", "kill", "stop", "lag")),
        Mood("bad-lines", 800, ("lag", "lag", "rift", "cut")),
        Mood("small-slices", 800, ("lag", "lag", "rift", "cut"), slice=1),
    )
}
