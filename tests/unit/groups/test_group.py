"""What the groups of a shard share."""

from __future__ import annotations

from andiron.groups.classic.group import ClassicGroup
from groups.classic import context_of


def test_rebalances_are_told_of_the_groups_that_there_are():
    world = context_of()
    world.rebalances.begins("g", "join")
    assert list(world.rebalances) == []

    world.groups["g"] = ClassicGroup("g", world.timers, None)
    assert list(world.rebalances) == [("g", "join", 1)]
