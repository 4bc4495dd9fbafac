"""BrokerHeartbeat (key 63), versions 0-2: a registered broker is alive, and how far it has read the metadata.

The answer says whether it has caught up, whether it is fenced, and, when it has asked to shut down, whether
its partitions have other leaders now so that it may. Version 1 adds the log directories that have failed,
2 those that take no new partitions (KIP-1066; null: not known yet). Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, i64, message, uuid


@message(api_key=63, versions=(0, 2), flexible=0)
class BrokerHeartbeatRequest:
    broker_id: int = i32()
    broker_epoch: int = i64(default=-1)
    current_metadata_offset: int = i64()
    want_fence: bool = boolean()
    want_shut_down: bool = boolean()
    offline_log_dirs: list[bytes] = array(uuid(), since=1, tag=0)
    cordoned_log_dirs: list[bytes] | None = array(uuid(), since=2, nullable=2, tag=1, default=None)


@message(api_key=63, versions=(0, 2), flexible=0)
class BrokerHeartbeatResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    is_caught_up: bool = boolean()
    is_fenced: bool = boolean(default=True)
    should_shut_down: bool = boolean()
