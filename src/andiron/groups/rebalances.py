"""How often groups rebalance, and why: counted by group and reason, where a rebalance begins.

    a member comes ─┐
    goes           ─┤
    falls silent   ─┼─▶ classic: all are asked to join again     (classic/rebalance.py)
    wants others   ─┤   consumer: the group's epoch goes up      (consumer/change.py)
    topics change  ─┘

A rebalance that is under way when another reason comes up is one rebalance, of the first reason, in a classic group:
all join once. In a consumer group each reason makes an epoch of its own.

The counts are soft: they begin at nothing where a coordinator is loaded, as counters do. Those of groups that are gone
are forgotten when there are many of them, so that whoever makes groups and deletes them fills nobody's memory.

Read next: broker/telemetry/group_stats.py, which tells them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

JOIN = "join"
LEAVE = "leave"
SESSION_TIMEOUT = "session_timeout"  # not heard from for too long
REBALANCE_TIMEOUT = "rebalance_timeout"  # did not join, sync or give up partitions in time
SUBSCRIPTION = "subscription"  # a member wants other topics, or another protocol
METADATA = "metadata"  # the topics that it reads have changed
SIZE = "size"  # there are more members than allowed by now
ASSIGNMENT = "assignment"  # the assignments did not fit into a record
PROTOCOL = "protocol"  # a consumer group was downgraded to a classic one
REASONS = (
    JOIN,
    LEAVE,
    SESSION_TIMEOUT,
    REBALANCE_TIMEOUT,
    SUBSCRIPTION,
    METADATA,
    SIZE,
    ASSIGNMENT,
    PROTOCOL,
)

FORGOTTEN_MAX = 1_000  # groups that are gone and still counted


class Rebalances:
    """How often the groups of a shard have rebalanced, and why."""

    def __init__(self, groups: Collection[str]) -> None:
        self._groups = groups  # the groups that exist
        self._counts: dict[str, dict[str, int]] = {}

    def begins(self, group_id: str, reason: str) -> None:
        """A group rebalances for this reason."""
        counts = self._counts.get(group_id)
        if counts is None:
            if len(self._counts) > len(self._groups) + FORGOTTEN_MAX:
                self._counts = {id: each for id, each in self._counts.items() if id in self._groups}
            counts = self._counts[group_id] = {}
        counts[reason] = counts.get(reason, 0) + 1

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        """Group, reason and count, of the groups that there are."""
        for group_id, counts in list(self._counts.items()):
            if group_id in self._groups:
                for reason, count in list(counts.items()):
                    yield group_id, reason, count
