"""What the requests of one voter to another have in common: Vote, BeginQuorumEpoch and EndQuorumEpoch.

Each speaks of the one partition there is, may say which cluster it belongs to, and which voter it is meant for. Who is
believed is another question: quorum/trust.py.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.broker import Broker
from andiron.broker.metadata.raft_requests import METADATA, NO_DIRECTORY
from andiron.model.errors import ErrorCode
from andiron.model.ids import LeaderEpoch
from andiron.quorum.trust import refusal


def misdirected(broker: Broker, body: Any) -> ErrorCode | None:
    """What is wrong with a request as a whole: another cluster, or another partition than the one there is."""
    if body.cluster_id not in (None, broker.cluster_id):
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    named = [(topic.topic_name, each.partition_index) for topic in body.topics for each in topic.partitions]
    return None if named == [METADATA] else ErrorCode.INVALID_REQUEST


def is_meant_for(broker: Broker, voter: int, directory: bytes) -> bool:
    """Whether this node, with its directory, is the voter that is asked; -1 and no directory say nothing."""
    return voter == -1 or (
        voter == broker.settings.node_id and directory in (NO_DIRECTORY, broker.directories.metadata_id)
    )


def disbelieved(broker: Broker, node: int, epoch: int) -> ErrorCode | None:
    """Why a candidate, or one that says it leads, is not listened to; None if it is."""
    raft = broker.raft
    return refusal(raft.quorum, node, LeaderEpoch(epoch), voters_may_change=raft.voters.may_change)
