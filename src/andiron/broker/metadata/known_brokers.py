"""Which brokers clients are told of: those that are let in, and those that were a moment ago.

    let in ──── told ────▶ gone ──── told for a session's time ────▶ not told
                             └── back before that: nobody who asks for metadata has noticed

Kafka takes a session (`broker.session.timeout.ms`) to find out that a broker is gone, and names it to clients for
as long. This cluster finds out within half a second, and moves what the broker led at once; but to take it from the
list that soon would only do harm. Clients forget whom they are not told of: librdkafka ends its thread for such a
broker, and then waits for good in send_offsets_to_transaction if that was the one it knew as the group's coordinator
(its issue 5511). Whoever is named and leads nothing is asked for nothing.

A node that has just started has seen nobody leave, and counts from there: after all were restarted at once, clients
find as many as before at whichever is back first.

Read next: handlers/metadata.py, which tells them; connection_watch.py, which notices so soon.
"""

from __future__ import annotations

from andiron.controller.image import BrokerImage, Image
from andiron.model.ids import Millis, NodeId


class KnownBrokers:
    """The brokers that this node has seen come and go."""

    def __init__(self, session_ms: int) -> None:
        self._session_ms = session_ms
        self._here: dict[NodeId, None] | None = None  # nothing has been seen yet
        self._left: dict[NodeId, Millis] = {}

    def __len__(self) -> int:
        """How many are remembered to have left."""
        return len(self._left)

    def moved(self, image: Image, now: Millis) -> None:
        """Brokers have come, or gone."""
        here = {each.id: None for each in image.brokers.values() if not each.fenced}
        for node in image.brokers if self._here is None else self._here:
            if node not in here:
                self._left[node] = now
        self._here = here
        self._left = {node: left for node, left in self._left.items() if now - left < self._session_ms}

    def told(self, image: Image, now: Millis) -> list[BrokerImage]:
        """Those that a client should know."""
        return [each for each in image.brokers.values() if not each.fenced or self._was_here(each.id, now)]

    def _was_here(self, node: NodeId, now: Millis) -> bool:
        left = self._left.get(node)
        return left is not None and now - left < self._session_ms
