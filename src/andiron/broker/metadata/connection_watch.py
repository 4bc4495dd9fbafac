"""Who follows the metadata from the controller's node, and who has gone.

    fetches ─▶ seen(node, connection) ······ the connection breaks ─▶ lost ─▶ half a second ─▶ gone
                                             and it fetches again ──────▶ seen

Every node fetches the metadata all the time, so one whose connection breaks tries again at once. One that does not is
not there any more: kill -9 closes its connections the moment it dies. To wait for its session to run out (9 seconds)
would be to know better and do nothing. A node that hangs, or that nobody can reach, breaks no connection; for that
there are sessions (controller/broker_sessions.py).

To be wrong here costs a change of leaders and no record: whoever is fenced and alive says so, and is let in again.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.broker.node.patience import OBSERVER_BACK_MS, OBSERVER_FIRST_MS
from andiron.model.ids import NEVER, Millis, NodeId


class ConnectionWatch:
    """The nodes that fetch from here, and the time they have to come back."""

    def __init__(self) -> None:
        self._through: dict[int, NodeId] = {}  # connections
        self._missing: dict[NodeId, Millis] = {}  # until when

    def begin(self, nodes: Iterable[NodeId], before: NodeId, now: Millis) -> None:
        """A new controller expects these; the one `before` it has been missed already."""
        self._missing = {
            node: Millis(now + (OBSERVER_BACK_MS if node == before else OBSERVER_FIRST_MS)) for node in nodes
        }

    def seen(self, node: NodeId, conn: int) -> None:
        """A node has fetched."""
        if self._through.get(conn) != node:
            self._through[conn] = node
        if self._missing:
            self._missing.pop(node, None)

    def lost(self, conn: int, now: Millis) -> None:
        """A connection is gone."""
        node = self._through.pop(conn, None)
        if node is not None and node not in self._through.values():
            self._missing[node] = Millis(now + OBSERVER_BACK_MS)

    def next_deadline(self) -> Millis:
        return min(self._missing.values(), default=NEVER)

    def take_gone(self, now: Millis) -> list[NodeId]:
        """Those that have not come back in time, each told once."""
        gone = [node for node, until in self._missing.items() if until <= now]
        for node in gone:
            del self._missing[node]
        return gone
