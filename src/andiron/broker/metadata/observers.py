"""Who follows the metadata log without a vote, as its leader sees them: brokers, and controllers that are to vote.

An observer is known by its fetches alone, and nothing says that it will come no more. One that has not fetched for
five minutes is forgotten when another comes, as in Kafka; if it does come again it is an observer like any other.
"""

from __future__ import annotations

from andiron.broker.node.patience import OBSERVER_SESSION_MS
from andiron.model.ids import Millis, NodeId, Offset
from andiron.replication.leader import Progress


class Observers(dict[NodeId, Progress]):
    """How far each has come."""

    def fetched(self, node: NodeId, offset: Offset, end: Offset, now: Millis) -> None:
        """A node without a vote has fetched from `offset` on, where the log ends at `end`."""
        seen = self.get(node)
        if seen is None:
            for silent in [id for id, each in self.items() if now - each.fetched_at >= OBSERVER_SESSION_MS]:
                del self[silent]
            seen = self[node] = Progress(offset, now, now, end)
        seen.offset, seen.fetched_at = offset, now
        if offset >= end:
            seen.caught_up_at = now
