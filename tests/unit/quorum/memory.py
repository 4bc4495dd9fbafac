"""A quorum whose files are in memory."""

from __future__ import annotations

import json

from andiron.model.chance import Chance
from andiron.quorum.election_state import ElectionStateFile
from andiron.quorum.election_timeouts import ElectionTimeouts
from andiron.quorum.events import LogEnd, VoteAnswered
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


class FixedLog:
    """A log that does not grow."""

    def __init__(self, end: LogEnd, may_stand: bool) -> None:
        self._end, self._may_stand = end, may_stand

    def log_end(self) -> LogEnd:
        return self._end

    def may_stand(self) -> bool:
        return self._may_stand


def quorum(
    files: Memory, voters: tuple[int, ...] = (1, 2, 3), me: int = 1, log: LogEnd = LogEnd(0, 0), *,
    in_log: bool = False, may_stand: bool = False,
) -> Quorum:  # fmt: skip
    timeouts = ElectionTimeouts(QuorumSettings(), Chance(7))
    file = ElectionStateFile(files, "/m")
    return Quorum(me, VoterIds(voters), timeouts, FixedLog(log, may_stand), file, voters_in_log=in_log)


def granted(voter: int, epoch: int, *, pre_vote: bool) -> VoteAnswered:
    return VoteAnswered(voter, epoch, pre_vote, True, epoch, NOBODY)
