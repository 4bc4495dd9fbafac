"""What the metadata quorum has settled for this node, noted for who follows it (Kafka calls RaftClient.Listeners back).

    raft_client.py      ── LeadershipGained, LeadershipLost ─▶ quorum_controller.py: a controller is made, or dropped
    metadata_fetcher.py ── SnapshotLoaded ───────────────────▶ metadata_loader.py: the image skips to where it ends

A fact may be out of date when it is taken: a node can lose the lead in the step in which it took it. Who takes one
looks whether it still holds.

Read next: `follow_quorum`, in both.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.broker.node.step import Step
from andiron.controller.image import Image
from andiron.model.ids import LeaderEpoch
from andiron.quorum.records import VotersRecord
from andiron.quorum.snapshot_format import SnapshotId


class LeadershipGained(NamedTuple):
    """This node leads the metadata from now on, in this epoch."""

    epoch: LeaderEpoch


class LeadershipLost(NamedTuple):
    """This node leads the metadata no more, if it did."""


class SnapshotLoaded(NamedTuple):
    """A snapshot that is here, and what it says: the log goes on from where it ends."""

    id: SnapshotId
    image: Image
    voters: VotersRecord | None


Leadership = LeadershipGained | LeadershipLost


class RaftFacts:
    """Facts in the order in which they came about."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._leadership: list[Leadership] = []
        self._snapshots: list[SnapshotLoaded] = []

    def note(self, fact: Leadership | SnapshotLoaded) -> None:
        """Something is settled: at the end of the step, if not before, somebody has to look."""
        if isinstance(fact, SnapshotLoaded):
            self._snapshots.append(fact)
        else:
            self._leadership.append(fact)
        self._step.has_facts = True

    def take_leadership(self) -> list[Leadership]:
        """How the lead has come and gone since this was last asked."""
        taken, self._leadership = self._leadership, []
        return taken

    def take_snapshots(self) -> list[SnapshotLoaded]:
        """The snapshots that the log has gone on from since this was last asked."""
        taken, self._snapshots = self._snapshots, []
        return taken
