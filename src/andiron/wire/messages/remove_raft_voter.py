"""RemoveRaftVoter (key 81), version 0: one voter less in the metadata quorum.

Id and directory must both be those of the voter, so that one which came back with an empty disk is not
taken for the old one (KIP-853). Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import i16, i32, message, string, uuid


@message(api_key=81, versions=(0, 0), flexible=0)
class RemoveRaftVoterRequest:
    cluster_id: str | None = string(nullable=True, default=None)
    voter_id: int = i32()
    voter_directory_id: bytes = uuid()


@message(api_key=81, versions=(0, 0), flexible=0)
class RemoveRaftVoterResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
