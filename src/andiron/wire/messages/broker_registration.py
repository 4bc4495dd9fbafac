"""BrokerRegistration (key 62), versions 0-4: a broker that has started makes itself known to the controller.

It says where it listens and what it can do, and is given its broker epoch, which it names in all it asks of
the controller; it stays fenced until its heartbeats say that it has caught up. Version 1 was for brokers
that came from ZooKeeper, 2 adds the log directories, 3 the epoch before a clean shutdown (KIP-966), 4
allows features that begin at 0. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, i64, message, string, struct, u16, uuid


@struct
class Listener:
    name: str = string()
    host: str = string()
    port: int = u16()
    security_protocol: int = i16()


@struct
class Feature:
    name: str = string()
    min_supported_version: int = i16()
    max_supported_version: int = i16()


@message(api_key=62, versions=(0, 4), flexible=0)
class BrokerRegistrationRequest:
    broker_id: int = i32()
    cluster_id: str = string()
    incarnation_id: bytes = uuid()
    listeners: list[Listener] = array(Listener)
    features: list[Feature] = array(Feature)
    rack: str | None = string(nullable=True, default=None)
    is_migrating_zk_broker: bool = boolean(since=1)
    log_dirs: list[bytes] = array(uuid(), since=2)
    previous_broker_epoch: int = i64(since=3, default=-1)


@message(api_key=62, versions=(0, 4), flexible=0)
class BrokerRegistrationResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    broker_epoch: int = i64(default=-1)
