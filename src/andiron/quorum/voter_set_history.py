"""Which voter set holds (KIP-853), as the log has it: a set counts from the moment that its record is in the log.

    the settings ── snapshot ── VotersRecord 120 ─────── VotersRecord 300 ──▶ the last of them holds
                                 committed                 appended

Not when it is committed: a majority is needed for that, and it must be clear whose. So a record that is cut off again
is undone, and what held before holds again. One change at a time: the next may begin when the record of the last one
is committed.

The voters that are in the settings are where it begins, and all there is to it while no record says otherwise.

Read next: voter_set.py; broker/metadata/voter_changes.py, where records come from.
"""

from __future__ import annotations

from andiron.model.ids import NodeId, Offset
from andiron.model.invariant import invariant
from andiron.quorum.records import ControlRecord, KRaftVersionRecord, VotersRecord
from andiron.quorum.voter_set import KRAFT_VERSION, VoterSet


class VoterSetHistory:
    """The sets of voters that are in the log, each with the offset of its record."""

    def __init__(self, given: VoterSet) -> None:
        self._given = given
        self._sets: list[tuple[Offset, VoterSet]] = []

    @property
    def latest(self) -> VoterSet:
        """The set that holds."""
        return self._sets[-1][1] if self._sets else self._given

    @property
    def is_in_log(self) -> bool:
        """Whether the voters are those of the log, and can change; not those of the settings."""
        return bool(self._sets)

    @property
    def changed_at(self) -> Offset:
        """The offset of the record that names the latest; -1 if none does."""
        return self._sets[-1][0] if self._sets else Offset(-1)

    def needs(self, node: NodeId, committed: Offset) -> bool:
        """Whether a node that is no voter any more may be needed: as far as one knows, that is not committed yet."""
        before = self._sets[-2][1] if len(self._sets) > 1 else self._given
        return self.is_in_log and self.changed_at >= committed and node in before.ids

    def as_of(self, end: Offset) -> VoterSet | None:
        """The set that the log names up to `end`; None if it names none."""
        found = [each for at, each in self._sets if at < end]
        return found[-1] if found else None

    def about(self, end: Offset) -> list[ControlRecord]:
        """What a snapshot that ends there has to say of the voters."""
        known = self.as_of(end)
        return [] if known is None else [KRaftVersionRecord(0, KRAFT_VERSION), known.record()]

    # ── what happens to the log ──────────────────────────────────────────────────────

    def appended(self, record: VotersRecord, offset: Offset) -> None:
        """A record of the log names the voters."""
        invariant(
            offset > self.changed_at,
            "records of voters come in the order of the log",
            self.changed_at,
            offset,
        )
        self._sets.append((offset, VoterSet.of(record)))

    def truncated(self, end: Offset) -> None:
        """The log ends there now: what came later never was."""
        self._sets = [each for each in self._sets if each[0] < end]

    def restarted(self, end: Offset, record: VotersRecord | None) -> None:
        """The log goes on from a snapshot that ends there, and says this of the voters."""
        self._sets = [] if record is None else [(Offset(end - 1), VoterSet.of(record))]
