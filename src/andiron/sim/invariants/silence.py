"""Silence is what a node was awake to hear: one that was paused has not been told that its leader is gone.

Looked at is who gives up the leader of the metadata because nothing was heard for controller.quorum.fetch.timeout.ms,
and not because a connection to it broke. The time since the leader was last heard is the world's, and the pauses in it
do not count, but for as much of each as a machine may take for lateness.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.model.awake import AWAY_MS
from andiron.model.effects import Woken
from andiron.model.ids import Millis
from andiron.quorum.roles import Role
from andiron.sim.host import Host
from andiron.sim.watcher import End, Violation, Watcher

AWAKE = "silence is what a node was awake to hear"


class Heard(NamedTuple):
    """When a follower last heard its leader, by the world's time; and how long it was away since."""

    deadline: Millis
    at: Millis
    away_ms: int = 0
    resumed_at: Millis = Millis(-1)  # as far as its pauses are counted


class SilenceIsHeard(Watcher):
    """Measures how long a leader was silent to one that gives it up."""

    def __init__(self) -> None:
        self._heard: dict[int, Heard] = {}  # by host, where one follows and hears

    def went_down(self, host: Host, end: End) -> None:
        self._heard.pop(host.number, None)

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        quorum, now = host.node.broker.raft.quorum, host.world.now
        heard = self._heard.pop(host.number, None)
        if heard is not None and heard.resumed_at != host.resumed_at:
            away_ms = host.resumed_at - host.paused_at - AWAY_MS
            heard = heard._replace(
                away_ms=heard.away_ms + max(0, away_ms if host.paused_at >= heard.at else 0),
                resumed_at=host.resumed_at,
            )
        if quorum.role is Role.FOLLOWER and quorum.knows_all_voters:
            deadline = quorum.next_deadline()
            is_same = heard is not None and heard.deadline == deadline
            self._heard[host.number] = (
                heard if heard is not None and is_same else Heard(deadline, now, 0, host.resumed_at)
            )
        elif heard is not None and quorum.role is Role.PROSPECTIVE and host.event is Woken:
            awake_ms = now - heard.at - heard.away_ms
            patience_ms = host.settings.quorum.controller_quorum_fetch_timeout_ms
            if awake_ms < patience_ms:
                how = f"{host.name} gives up its leader after {awake_ms} ms of {patience_ms} awake"
                raise Violation(AWAKE, how)
