"""UpdateRaftVoter (key 82), version 0: a voter of the metadata quorum is reached elsewhere, or knows more.

The voter itself sends it to the leader when its endpoints or its versions of `kraft.version` are not those
of the voters' record (KIP-853). Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, i16, i32, message, nested, string, struct, u16, uuid


@struct
class Listener:
    name: str = string()
    host: str = string()
    port: int = u16()


@struct
class KRaftVersionFeature:
    min_supported_version: int = i16()
    max_supported_version: int = i16()


@message(api_key=82, versions=(0, 0), flexible=0)
class UpdateRaftVoterRequest:
    cluster_id: str | None = string(nullable=True, default=None)
    current_leader_epoch: int = i32()
    voter_id: int = i32()
    voter_directory_id: bytes = uuid()
    listeners: list[Listener] = array(Listener)
    kraft_version_feature: KRaftVersionFeature = nested(KRaftVersionFeature)


@struct
class CurrentLeader:
    leader_id: int = i32(default=-1)
    leader_epoch: int = i32(default=-1)
    host: str = string()
    port: int = i32()


@message(api_key=82, versions=(0, 0), flexible=0)
class UpdateRaftVoterResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    current_leader: CurrentLeader | None = nested(CurrentLeader, tag=0, default=None)
