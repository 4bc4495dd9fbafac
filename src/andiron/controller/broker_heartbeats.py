"""Broker heartbeats (KIP-631): brokers say that they live, what they want, and what has failed; so does their silence.

    fenced    ── has read its registration ─────────▶ live
    live      ── wants to be fenced, or is silent ──▶ fenced
    live      ── wants to shut down, leads something ──▶ stopping: others lead, it leaves every ISR
    stopping  ── leads nothing, all others know ────▶ fenced, and may shut down

That is the controlled shutdown. A stopping broker goes on serving until every live broker has read that others
lead now; so clients that ask any of them are sent the right way, and no request meets a closed door.

Directories that have failed (from version 1 on, KIP-858) are told again and again; the first time, what lies there
leaves its ISR. A broker none of whose directories works is fenced.

Read next: broker_sessions.py, which knows when each was last heard of; leader_election.py.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.controller.broker_registrations import check_broker_epoch, registration_change
from andiron.controller.broker_sessions import BrokerSessions
from andiron.controller.image import BrokerImage, Image
from andiron.controller.records import MetadataRecord
from andiron.controller.settings import ControllerSettings
from andiron.model.ids import Millis, NodeId, Offset
from andiron.model.machine import Decision
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse


class BrokerGone(NamedTuple):
    """A broker's connection broke, and it has not come back: it is fenced at once. Answered with None."""

    broker_id: NodeId


class BrokerHeartbeats:
    """Decides on brokers by what they say of themselves, and by their silence."""

    def __init__(self, image: Image, settings: ControllerSettings, sessions: BrokerSessions) -> None:
        self._image, self._settings, self._sessions = image, settings, sessions

    def decide(self, request: BrokerHeartbeatRequest, now: Millis) -> Decision[MetadataRecord]:
        """A broker is alive; what becomes of it."""
        image, sessions = self._image, self._sessions
        broker = check_broker_epoch(image, request.broker_id, request.broker_epoch)
        caught_up = sessions.has_read_its_registration(broker, request.current_metadata_offset)
        after, may_stop = self._next(broker, request, caught_up)
        after = self._with_failures(after, request.offline_log_dirs)
        records = registration_change(after, image, self._settings)
        if not after.fenced:
            sessions.heard_of(broker.id, Offset(request.current_metadata_offset), now)
            if after.stopping and records:
                sessions.moved(broker.id, Offset(image.next_offset + len(records) - 1))
        response = BrokerHeartbeatResponse(
            is_caught_up=caught_up, is_fenced=after.fenced, should_shut_down=may_stop
        )
        return Decision(response, records)

    def gone(self, request: BrokerGone, now: Millis) -> Decision[MetadataRecord]:
        """Fence a broker that is not there any more, without waiting for its session to run out."""
        broker = self._image.brokers.get(request.broker_id)
        if broker is None or broker.fenced:
            return Decision(None)
        return Decision(None, registration_change(broker._replace(fenced=True), self._image, self._settings))

    def silent(self, now: Millis) -> list[MetadataRecord]:
        """Fence a broker whose session has run out: one at a time, for what it led may go to the next."""
        for id in self._sessions.ended(now):
            broker = self._image.brokers.get(id)
            if broker is not None and not broker.fenced:
                return registration_change(broker._replace(fenced=True), self._image, self._settings)
            self._sessions.forget(id)
        return []

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _next(
        self, broker: BrokerImage, request: BrokerHeartbeatRequest, caught_up: bool
    ) -> tuple[BrokerImage, bool]:
        """The broker as it should be, and whether it may shut down now."""
        wants_out = request.want_shut_down
        if broker.fenced:
            back = caught_up and not (request.want_fence or wants_out or broker.stopping)
            return broker._replace(fenced=not back), wants_out
        if broker.stopping:
            done = self._sessions.all_know_that_it_leads_nothing(broker.id, self._image)
            return broker._replace(fenced=done), done
        if request.want_fence:
            return broker._replace(fenced=True), wants_out
        if not wants_out:
            return broker, False
        leads = self._leads(broker.id)
        return broker._replace(stopping=leads, fenced=not leads), not leads

    def _leads(self, id: NodeId) -> bool:
        return any(partition.leader == id for _, _, partition in self._image.partitions())

    def _with_failures(self, broker: BrokerImage, offline: list[bytes]) -> BrokerImage:
        if not any(directory in broker.log_dirs for directory in offline):
            return broker
        working = tuple(each for each in broker.log_dirs if each not in offline)
        return broker._replace(log_dirs=working) if working else broker._replace(fenced=True)
