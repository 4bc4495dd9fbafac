"""Whom a voter believes, of those who come to it: candidates for its vote, and nodes that say that they lead.

Nobody has to prove who it is (until there is a way to). But what comes of such a request is kept for good: an epoch
never goes back, and all epochs there are fit into 32 bits. So what no voter could have said is refused:

    an epoch beyond EPOCHS_AHEAD_MAX    one election is one epoch: nobody can have missed so many
    this node itself                    it does not come to itself
    a node that does not vote           unless the log may say otherwise, and this node may not have heard of it yet

The latter is so where voters come and go: who was let in while this node was away may be the only one that can lead,
and needs this node's vote for it. That cannot be where this node leads, hears who leads, or votes alone: no voters are
chosen without it.

What another node answers when this one has asked it is believed in any epoch that there can be: this node chose whom
to ask, and one with an empty disk learns so in which epoch it is.

Read next: quorum.py.
"""

from __future__ import annotations

from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch
from andiron.quorum.election_state import EPOCH_MAX
from andiron.quorum.quorum import Quorum

EPOCHS_AHEAD_MAX = 1 << 20


def refusal(quorum: Quorum, node: int, epoch: LeaderEpoch, *, voters_may_change: bool) -> ErrorCode | None:
    """Why a node is not believed that speaks as a candidate or as the leader of an epoch; None if it is."""
    if epoch < quorum.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if node < 0 or node == quorum.me or epoch > min(EPOCH_MAX, quorum.epoch + EPOCHS_AHEAD_MAX):
        return ErrorCode.INVALID_REQUEST
    may_be_new = voters_may_change and not quorum.knows_all_voters
    return None if node in quorum.voters or may_be_new else ErrorCode.INCONSISTENT_VOTER_SET
