"""AddRaftVoter (key 80), versions 0-1: one more voter in the metadata quorum.

Sent to the leader, by an administrator or by a controller that joins of itself (KIP-853). Version 1 can ask
for the answer as soon as the leader has written the new set of voters, before it is committed. Flexible
from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, message, string, struct, u16, uuid


@struct
class Listener:
    name: str = string()
    host: str = string()
    port: int = u16()


@message(api_key=80, versions=(0, 1), flexible=0)
class AddRaftVoterRequest:
    cluster_id: str | None = string(nullable=True, default=None)
    timeout_ms: int = i32()
    voter_id: int = i32()
    voter_directory_id: bytes = uuid()
    listeners: list[Listener] = array(Listener)
    ack_when_committed: bool = boolean(since=1, default=True)


@message(api_key=80, versions=(0, 1), flexible=0)
class AddRaftVoterResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
