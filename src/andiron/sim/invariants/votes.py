"""A voter votes once in an epoch, whatever happens to it in between, for a node of its cluster that has all that it has
itself; and never goes back to an earlier one.

Read from where it must be written before anybody is told: the file `quorum-state` (quorum/election_state.py),
whenever that has changed. It also says which leader a node knows of in an epoch: no two nodes may know different ones.
"""

from __future__ import annotations

import json

from andiron.quorum.election_state import FILE, NOBODY
from andiron.quorum.roles import Role
from andiron.sim.host import Host
from andiron.sim.watcher import Violation, Watcher

ONCE = "a voter votes once in an epoch"
KNOWN = "a stranger is neither voted for nor followed"
ENOUGH = "a voter votes for who has as much"
BACK = "epochs of the quorum go forward"
ONE = "the quorum has one leader in an epoch"


class VotersVoteOnce(Watcher):
    """Reads what voters have written down."""

    def __init__(self) -> None:
        self._files: dict[int, bytes] = {}  # by host, as last read
        self._changes: dict[int, int] = {}  # by host: to its disk, when that was
        self._epochs: dict[int, int] = {}
        self._votes: dict[tuple[int, int], int] = {}  # by host and epoch
        self._leaders: dict[int, tuple[int, int]] = {}  # by epoch: the leader, and who said so first

    def stepped(self, host: Host) -> None:
        if self._changes.get(host.number) == host.disk.changes:
            return
        self._changes[host.number] = host.disk.changes
        assert host.node is not None
        path = f"{host.node.broker.raft.partition.log.directory}/{FILE}"
        if not host.disk.exists(path):
            return
        data = host.disk.read_file(path)
        if self._files.get(host.number) != data:
            self._files[host.number] = data
            fields = json.loads(data)
            epoch, voted, leader = fields["leaderEpoch"], fields["votedId"], fields["leaderId"]
            _check_known(host, epoch, voted, leader)
            if voted != NOBODY and (host.number, epoch) not in self._votes:
                _check_candidate(host, epoch, voted)
            self._look(host.number, epoch, voted, leader)

    def _look(self, node: int, epoch: int, voted: int, leader: int) -> None:
        if epoch < self._epochs.get(node, 0):
            raise Violation(BACK, f"node-{node}: {self._epochs[node]}, then {epoch}")
        self._epochs[node] = epoch
        if voted != NOBODY and self._votes.setdefault((node, epoch), voted) != voted:
            before = self._votes[node, epoch]
            raise Violation(ONCE, f"node-{node} in epoch {epoch}: for {before}, then for {voted}")
        if leader != NOBODY:
            known, by = self._leaders.setdefault(epoch, (leader, node))
            if known != leader:
                how = f"epoch {epoch}: {known} by node-{by}, {leader} by node-{node}"
                raise Violation(ONE, how)


def _check_known(host: Host, epoch: int, voted: int, leader: int) -> None:
    """Both are nodes of this cluster, or nobody."""
    for node in (voted, leader):
        if node != NOBODY and node not in host.world.hosts:
            raise Violation(KNOWN, f"{host.name} in epoch {epoch}: node-{node}, which is not there")


def _check_candidate(host: Host, epoch: int, voted: int) -> None:
    """Who stands, or leads thereafter, loses nothing of its log: it has what it had when it asked, or more."""
    other = host.world.hosts[voted]
    if host.node is None or other.node is None:
        return
    voter, candidate = host.node.broker.raft, other.node.broker.raft
    stands = candidate.quorum.epoch == epoch and candidate.quorum.role in (Role.CANDIDATE, Role.LEADER)
    if stands and candidate.log_end() < voter.log_end():
        has, wants = candidate.log_end(), voter.log_end()
        raise Violation(
            ENOUGH, f"{host.name} has {wants}, and votes for node-{voted} in {epoch}, which has {has}"
        )
