"""What the metadata quorum has settled for this node, noted for metadata.py (Kafka calls its RaftClient.Listener back).

    raft_client.py      ── LeadershipGained, LeadershipLost ──┐
    metadata_fetcher.py ── SnapshotLoaded ────────────────────┴─▶ RaftFacts ─▶ metadata.py: a controller is made, or
                                                                  dropped; the image skips to where the snapshot ends

A fact may be out of date when it is taken: a node can lose the lead in the step in which it took it. Who takes one
looks whether it still holds.

Read next: metadata.py, `follow_quorum`.
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
    """A snapshot that is here, and what it says."""

    id: SnapshotId
    image: Image
    voters: VotersRecord | None


Fact = (
    LeadershipGained | LeadershipLost | SnapshotLoaded
)  # the last: the log goes on from where this snapshot ends


class RaftFacts:
    """Facts in the order in which they came about."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._facts: list[Fact] = []

    def note(self, fact: Fact) -> None:
        """Something is settled: at the end of the step, if not before, somebody has to look."""
        self._facts.append(fact)
        self._step.has_facts = True

    def take(self) -> list[Fact]:
        """What has come about since this was last asked."""
        facts, self._facts = self._facts, []
        return facts
