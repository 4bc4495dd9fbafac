"""A voter that has moved says so: UpdateRaftVoter, to the leader of the metadata quorum (KIP-853).

    follows a leader ──▶ the voters' record has other endpoints of this node ──▶ UpdateRaftVoter ──▶ committed
                                     ▲                                              │ refused, lost
                                     └──────────────── a fetch timeout later ───────┘

A node whose host or port has changed still finds the others by the record, asks for their votes, and hears from them
who leads. From its first fetch on the leader can be told; until then nobody finds this node. Where every node's
settings name the voters (kraft.version 0) there is no such record, and nothing to say.

Read next: handlers/update_raft_voter.py, the leader's side.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from andiron.broker.metadata.voter_tracker import own_voter
from andiron.model.ids import Address, Millis
from andiron.model.line import Line
from andiron.quorum.voter_set import KRAFT_VERSION, VoterNode
from andiron.wire.messages.update_raft_voter import KRaftVersionFeature, Listener, UpdateRaftVoterRequest

if TYPE_CHECKING:
    from andiron.broker.metadata.raft_client import RaftClient

LANE = "voter"

log = logging.getLogger(__name__)


class VoterUpdate:
    """Keeps this node's endpoints in the voters' record what they are."""

    def __init__(self, raft: RaftClient) -> None:
        self._raft = raft
        self._not_before = Millis(0)

    def look(self, leader: Address, now: Millis) -> None:
        """The leader has just been heard: tell it where this voter is reached, if the record says otherwise."""
        if now >= self._not_before and (moved := self._moved()) is not None:
            timeout_ms = self._raft.settings.quorum.controller_quorum_fetch_timeout_ms
            self._not_before = Millis(now + timeout_ms)
            log.info(Line(
                "Controller {controller} is reached elsewhere than the voters' record says, and tells the leader",
                controller=moved.id, address=moved.address,
            ))  # fmt: skip
            self._raft.calls.call(leader, LANE, self._request(moved), timeout_ms, _heard)

    def _moved(self) -> VoterNode | None:
        """This node as a voter, if its record has other endpoints."""
        raft = self._raft
        known = raft.voters.latest.get(raft.me) if raft.voters.history.is_in_log else None
        own = own_voter(raft.settings, raft.directories.metadata_id)
        is_this = known is not None and known.is_called(own.id, own.directory)
        return own if known is not None and is_this and own.endpoints != known.endpoints else None

    def _request(self, voter: VoterNode) -> UpdateRaftVoterRequest:
        return UpdateRaftVoterRequest(
            cluster_id=self._raft.directories.cluster_id,
            current_leader_epoch=self._raft.quorum.epoch,
            voter_id=voter.id,
            voter_directory_id=voter.directory,
            listeners=[Listener(name, *address) for name, address in voter.endpoints],
            kraft_version_feature=KRaftVersionFeature(0, KRAFT_VERSION),
        )


def _heard(response: Any, now: Millis) -> None:
    """What was refused or lost is asked again while the record says otherwise."""
