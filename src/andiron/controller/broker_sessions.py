"""Broker sessions: which brokers are heard of, and how far each has come with the metadata. Soft: no log holds it.

Every heartbeat begins a session anew (broker.session.timeout.ms). A broker whose session has run out is fenced
(broker_heartbeats.py).

    heartbeat       heartbeat       heartbeat                       fenced
    ────┴───────────────┴───────────────┴───────── session ───────────┤

A controller that has just taken over has heard of nobody, and gives everybody a full session to find it.
It does not know either how far anybody has come: a broker that is shutting down then waits until all others
have said it again.

Time is that in which this controller was awake (model/awake.py): one that stood still has taken nobody's
heartbeat for missing, which lie in its sockets.

Read next: broker_heartbeats.py.
"""

from __future__ import annotations

from andiron.controller.image import BrokerImage, Image
from andiron.model.ids import Millis, NodeId, Offset
from andiron.model.timers import Timers

UNKNOWN = Offset(-1)


class BrokerSessions:
    """The sessions of the brokers that are not fenced."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._due: dict[NodeId, Millis] = {}
        self._timers: Timers[NodeId] = Timers()
        self._read: dict[NodeId, Offset] = {}  # the metadata that each has taken in
        self._moved: dict[NodeId, Offset] = {}  # where the log says that a stopping broker leads nothing
        self._registered: dict[NodeId, Offset] = {}  # where in the log each is registered

    def begin(self, image: Image, now: Millis) -> None:
        """This controller has taken over: all sessions start now."""
        for broker in image.brokers.values():
            if not broker.fenced:
                self.heard_of(broker.id, UNKNOWN, now)
            if broker.stopping:
                self.moved(broker.id, Offset(image.next_offset - 1))

    def heard_of(self, broker: NodeId, read: Offset, now: Millis) -> None:
        """A broker is alive, and has taken in the metadata up to and with `read`."""
        self._set(broker, Millis(now + self._timeout_ms))
        self._read[broker] = max(read, self._read.get(broker, UNKNOWN))

    def forget(self, broker: NodeId) -> None:
        """A broker is fenced or gone: nothing is expected of it."""
        for kept in (self._due, self._read, self._moved):
            kept.pop(broker, None)
        self._timers.cancel(broker)

    def registered(self, broker: NodeId, offset: Offset) -> None:
        """The log has its registration there."""
        self.forget(broker)
        self._registered[broker] = offset

    def moved(self, broker: NodeId, offset: Offset) -> None:
        """Whoever has read up to and with `offset` looks to others for what this stopping broker led."""
        self._moved[broker] = offset

    # ── asking ───────────────────────────────────────────────────────────────────────

    def is_open(self, broker: NodeId, now: Millis) -> bool:
        """Whether a broker was heard of lately."""
        return broker in self._due and self._due[broker] > now

    def ended(self, now: Millis) -> list[NodeId]:
        """The brokers whose session has run out."""
        return [broker for broker, due in self._due.items() if due <= now]

    def next_deadline(self) -> Millis:
        """When the first session runs out."""
        return self._timers.next_deadline()

    def has_read_its_registration(self, broker: BrokerImage, read: int) -> bool:
        """Whether a broker that has read so far knows of itself."""
        return read >= self._registered.get(broker.id, broker.epoch)

    def all_know_that_it_leads_nothing(self, broker: NodeId, image: Image) -> bool:
        """Whether every live broker has read what a stopping one waits for."""
        offset = self._moved.get(broker, UNKNOWN)
        others = (other.id for other in image.brokers.values() if other.live and other.id != broker)
        return all(self._read.get(other, UNKNOWN) >= offset for other in others)

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _set(self, broker: NodeId, due: Millis) -> None:
        self._due[broker] = due
        self._timers.set(broker, due)
