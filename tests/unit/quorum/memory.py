"""A quorum whose files are in memory."""

from __future__ import annotations

import json

from andiron.model.chance import Chance
from andiron.quorum.events import (
    LogEnd,
    VoteAnswered,
)
from andiron.quorum.quorum import Quorum
from andiron.quorum.settings import QuorumSettings
from andiron.quorum.voter_set import VoterIds
from worlds.small_files import SmallFiles

NOBODY = -1
LATER = 10_000  # than any timeout


class Memory(SmallFiles):
    """Files in memory, and everything that was ever written."""

    def __init__(self) -> None:
        self.written: list[tuple[int, int, int]] = []

    def write_file(self, path: str, data: bytes) -> None:
        super().write_file(path, data)
        told = json.loads(data)
        self.written.append((told["leaderEpoch"], told["votedId"], told["leaderId"]))


def quorum(
    files: Memory, voters: tuple[int, ...] = (1, 2, 3), me: int = 1, log: LogEnd = LogEnd(0, 0)
) -> Quorum:
    return Quorum(me, VoterIds(voters), QuorumSettings(), Chance(7), lambda: log, files, "/m")


def granted(voter: int, epoch: int, *, pre_vote: bool) -> VoteAnswered:
    return VoteAnswered(voter, epoch, pre_vote, True, epoch, NOBODY)
