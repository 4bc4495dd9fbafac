"""Who votes, at this node (KIP-853): what its settings say, until its log says it.

    settings ─┐
    snapshot ─┼─▶ VoterSetHistory ─▶ who votes, and where they are reached
    log ──────┘        ▲
                       └─ records that come, are cut off, or are skipped by a snapshot

A quorum whose voters are in the settings of all its nodes keeps them (`controller.quorum.voters`). One that began with
a node by itself, without that setting, can grow and shrink: its folder was given a snapshot that names its voter
(standalone_format.py), as Kafka's `kafka-storage format` does; in folders of before that was so, the first change
writes the voters into the log. From then on that is what counts.

Kafka's KRaftControlRecordStateMachine does the same.

Read next: quorum/voter_set_history.py; voter_changes.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.broker.coordinators.shard import batches_between
from andiron.broker.replicas.log_directories import LogDirectories
from andiron.broker.replicas.partition import Partition
from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.ids import Address, Millis, NodeId, Offset, wall_time
from andiron.quorum.records import (
    ControlRecord,
    KRaftVersionRecord,
    VotersRecord,
    decode_control,
    encode_control,
)
from andiron.quorum.voter_set import KRAFT_VERSION, NOWHERE, VoterNode, VoterSet
from andiron.quorum.voter_set_history import VoterSetHistory
from andiron.records.batch import Batch
from andiron.records.control import ControlType, control_batch, control_type
from andiron.records.record import records_of


def own_voter(settings: NodeSettings, directory: bytes) -> VoterNode:
    """This node as a voter: its folder, and where its controller is reached."""
    places = tuple((each.name, Address(each.host, each.port)) for each in settings.controller_endpoints)
    return VoterNode(NodeId(settings.node_id), directory, places)


class VoterTracker:
    """The voters that hold, and the addresses of all controllers that were ever heard of."""

    def __init__(self, settings: NodeSettings, log_directories: LogDirectories) -> None:
        self._settings, self._log_directories = settings, log_directories
        self._me = NodeId(settings.node_id)
        self.addresses = {NodeId(v.node_id): Address(v.host, v.port) for v in settings.voters.values()}
        self.directories: dict[NodeId, bytes] = {}  # as those that fetch from here say it
        self.history = VoterSetHistory(VoterSet())

    def load(self, partition: Partition, start: Offset, record: VotersRecord | None) -> None:
        """Find out who votes: by a snapshot that ends at `start`, and the log from there."""
        name = self._settings.controller_listeners[0]
        given = [
            VoterNode(
                id, self._log_directories.metadata_id if id == self._me else NOWHERE, ((name, address),)
            )
            for id, address in self.addresses.items()
        ]
        self.history = VoterSetHistory(VoterSet(given))
        self.history.restarted(start, record)
        for batch in batches_between(partition, start, partition.log.end):
            self._note(batch)
        self._learn_addresses()

    @property
    def latest(self) -> VoterSet:
        return self.history.latest

    @property
    def kraft_version(self) -> int:
        """The quorum's own level: 1 where the log names the voters, and since it does."""
        return KRAFT_VERSION if self.history.is_in_log else 0

    @property
    def may_change(self) -> bool:
        """Whether they are not fixed by everybody's settings."""
        return self.history.is_in_log or not self._settings.broker.controller_quorum_voters

    def directory_of(self, node: NodeId) -> bytes:
        """Where a node has its log: as the log says of a voter, be it dead, or as it says itself."""
        voter = self.latest.get(node)
        if voter is not None and voter.directory != NOWHERE:
            return voter.directory
        return self.directories.get(node, NOWHERE)

    def learn(self, node: NodeId, address: Address) -> None:
        """A node says itself where it is reached; it is heard if nobody else has said so: a voter that was away while
        others were let in does not know of them, and could not follow the one of them that leads."""
        self.addresses.setdefault(node, address)

    # ── what happens to the log ──────────────────────────────────────────────────────

    def follow(self, batches: Iterable[Batch], was: Offset, end: Offset) -> bool:
        """The log, which ended at `was`, has taken in these batches, or was cut; it ends at `end` now. Whether it names
        other voters by that."""
        before = self.latest
        if end < was:
            self.history.truncated(end)
        else:
            for batch in batches:
                if was <= batch.base_offset < end:
                    self._note(batch)
        if self.latest is before:
            return False
        self._learn_addresses()
        return True

    def restart(self, end: Offset, record: VotersRecord | None) -> None:
        """The log goes on from a snapshot, which may name other voters."""
        self.history.restarted(end, record)
        self._learn_addresses()

    def begin(self, first: ControlRecord, partition: Partition, now: Millis) -> bool:
        """As the leader: begin an epoch with its `first` record. Where only the snapshot of a new folder names the
        voters, the log does from now on, for those who have not that snapshot; and where a node that votes alone is
        reached elsewhere by now. Whether the log names other voters by that."""
        records, voters = [first], self._with_own_place()
        if self.history.is_in_log and (self.history.changed_at < 0 or voters != self.latest):
            records += [KRaftVersionRecord(0, KRAFT_VERSION), voters.record()]
        return self._append(records, partition, now)

    def change(self, voters: VoterSet, partition: Partition, now: Millis) -> Offset:
        """As the leader: let these vote from now on. Returns where the log then ends."""
        records: list[ControlRecord] = (
            [] if self.history.is_in_log else [KRaftVersionRecord(0, KRAFT_VERSION)]
        )
        self._append([*records, voters.record()], partition, now)
        return partition.log.end

    # ── inside ───────────────────────────────────────────────────────────────────────

    def _append(self, records: list[ControlRecord], partition: Partition, now: Millis) -> bool:
        was = partition.log.end
        batch = control_batch([encode_control(each) for each in records], timestamp=wall_time(now))
        partition.append_own(batch, now)
        return self.follow([Batch(batch)], was, partition.log.end)

    def _with_own_place(self) -> VoterSet:
        own = self.latest.get(self._me)
        if own is None or len(self.latest) > 1:
            return self.latest
        return VoterSet([own._replace(endpoints=own_voter(self._settings, own.directory).endpoints)])

    def _note(self, batch: Batch) -> None:
        if not batch.is_control:
            return
        for record in records_of(batch):
            if control_type(record.key) is ControlType.KRAFT_VOTERS:
                found = decode_control(ControlType.KRAFT_VOTERS, record.value or b"")
                assert isinstance(found, VotersRecord)
                self.history.appended(found, Offset(record.offset))

    def _learn_addresses(self) -> None:
        for voter in self.latest:
            if voter.address is not None:
                self.addresses[voter.id] = voter.address
