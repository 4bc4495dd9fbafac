"""A group grows from one member to ten and shrinks to one again, over a hundred partitions.

Members come and go while the group is still busy with those before them, and records flow all the while.
`ANDIRON_SCALE_ROUNDS=20` for the long run.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from peers.members import kinds, laws
from peers.members.group import Group
from peers.members.kinds import COOPERATIVE, RANGE, ROUND_ROBIN, STICKY, UNIFORM, Kind

ROUNDS = int(os.environ.get("ANDIRON_SCALE_ROUNDS", "1"))
MEMBERS, PARTITIONS = 10, 100


@pytest.mark.slow
@kinds.each(
    [
        Kind("confluent", COOPERATIVE),
        Kind("confluent", UNIFORM, "consumer"),
        Kind("kafka_python", STICKY),
        Kind("aiokafka", ROUND_ROBIN),
        Kind("java", RANGE),
        Kind("java", COOPERATIVE),
        Kind("java", UNIFORM, "consumer"),
    ]
)
def test_a_group_grows_to_ten_members_and_shrinks_to_one(
    make_group: Callable[..., Group], kind: Kind
) -> None:
    group = make_group(PARTITIONS)
    with group.flowing():
        group.join(kind)
        group.settled()
        for _ in range(ROUNDS):
            grow_and_shrink(group, kind)
    group.drained()
    laws.exactly_once(group)
    laws.in_order(group)
    laws.one_owner(group)
    if kind.incremental:
        laws.nothing_moved_in_vain(group)


def grow_and_shrink(group: Group, kind: Kind) -> None:
    while len(group.living) < MEMBERS:
        group.join(kind)
    group.settled(*[PARTITIONS // MEMBERS] * MEMBERS)
    for member in group.living[:-1]:
        member.leave()
    group.settled()
