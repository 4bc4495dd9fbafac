"""The election state of a voter, which it must never forget: its epoch, its vote and its leader, in `quorum-state`.

    {"clusterId": "", "leaderId": 1, "leaderEpoch": 7, "votedId": -1, "appliedOffset": 0,
     "currentVoters": [{"voterId": 1}], "data_version": 0}

It is Kafka's file. Version 0 belongs to a quorum whose voters are given in the settings; version 1, to one whose voters
are in its log, and has the directory of the candidate in their place.

An epoch fits into 32 bits, in this file as in every batch and every message. Where the last one was reached nobody can
be elected any more; that stops the node too, with a word on what helps.

A vote counts only when it is on the disk: a voter that forgot its vote could vote twice in one epoch, and
two leaders would come of it. So a file that cannot be read stops the node; it is not taken for an empty one.

Three things are asserted of each state that is written over another: the epoch does not go back, it has one leader, and
the voter has one vote in it (`check_follows`).

Read next: quorum.py.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch, NodeId
from andiron.model.invariant import invariant
from andiron.quorum.voter_set import VoterIds

FILE = "quorum-state"
NOBODY = NodeId(-1)
EPOCH_MAX = (1 << 31) - 1
_NO_DIRECTORY = "AAAAAAAAAAAAAAAAAAAAAA"


class SmallFiles(Protocol):
    """The part of a Disk (log/disk.py) that is needed here."""

    def exists(self, path: str) -> bool: ...

    def read_file(self, path: str) -> bytes: ...

    def write_file(self, path: str, data: bytes) -> None:
        """Replace a file, whole and durably."""


@dataclass(frozen=True, slots=True)
class ElectionState:
    """An epoch, and in it the leader that is known or the candidate that got this voter's vote."""

    epoch: LeaderEpoch
    leader: NodeId = NOBODY
    voted: NodeId = NOBODY
    voters: VoterIds | None = None  # as of when it was written; None where they are in the log

    def check_follows(self, before: ElectionState) -> None:
        """Assert that a voter may come from the state `before` to this one (Raft's rules, KIP-595)."""
        invariant(self.epoch >= before.epoch, "an epoch never goes back", before, self)
        if self.epoch == before.epoch:
            is_first = before.voted == before.leader == NOBODY
            invariant(before.leader in (NOBODY, self.leader), "an epoch has one leader", before, self)
            invariant(
                is_first or self.voted in (NOBODY, before.voted),
                "a vote is given once in an epoch",
                before,
                self,
            )

    def encode(self) -> bytes:
        """The state as Kafka's file has it."""
        known = {"leaderId": self.leader, "leaderEpoch": self.epoch, "votedId": self.voted}
        fields: dict[str, Any]
        if self.voters is None:
            fields = {**known, "votedDirectoryId": _NO_DIRECTORY, "data_version": 1}
        else:
            voters = [{"voterId": voter} for voter in self.voters]
            fields = {
                "clusterId": "",
                **known,
                "appliedOffset": 0,
                "currentVoters": voters,
                "data_version": 0,
            }
        return json.dumps(fields, separators=(",", ":")).encode()


class ElectionStateFile:
    """The file `quorum-state` of a metadata log. Kafka's FileQuorumStateStore."""

    def __init__(self, files: SmallFiles, directory: str) -> None:
        self._files, self.directory = files, directory
        self._path = f"{directory}/{FILE}"

    def load(self) -> ElectionState:
        """The election state that was stored last; epoch 0 without a vote if none was."""
        if not self._files.exists(self._path):
            return ElectionState(LeaderEpoch(0))
        try:
            state = _decode(json.loads(self._files.read_file(self._path)))
        except (ValueError, KeyError, TypeError) as error:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(
                f"{self._path} is not a quorum state: {error!r}"
            ) from error
        if state.epoch >= EPOCH_MAX:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(
                f"{self._path} has epoch {state.epoch}, after which there can be none: stop all controllers, remove "
                "this file at each of them, and start them again; the metadata itself lies beside it, and is not lost"
            )
        return state

    def store(self, state: ElectionState) -> None:
        """Store an election state; it is on the disk when this returns."""
        if not 0 <= state.epoch <= EPOCH_MAX:
            raise ErrorCode.KAFKA_STORAGE_ERROR.error(f"epoch {state.epoch} could not be read again")
        self._files.write_file(self._path, state.encode())


def _decode(fields: dict[str, Any]) -> ElectionState:
    version = fields["data_version"]
    if version not in (0, 1):
        raise ValueError(f"version {version} is not known")
    voters = [int(voter["voterId"]) for voter in fields["currentVoters"] or ()] if version == 0 else []
    return ElectionState(
        LeaderEpoch(int(fields["leaderEpoch"])),
        NodeId(int(fields["leaderId"])),
        NodeId(int(fields["votedId"])),
        VoterIds(voters) if voters else None,
    )
