"""ControllerRegistration (key 70), version 0: a controller makes itself known to the one that leads.

It says where it listens and which features it can work with, so that no feature is raised above what every
controller knows. Flexible from the start.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, i16, i32, message, string, struct, u16, uuid


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


@message(api_key=70, versions=(0, 0), flexible=0)
class ControllerRegistrationRequest:
    controller_id: int = i32()
    incarnation_id: bytes = uuid()
    zk_migration_ready: bool = boolean()
    listeners: list[Listener] = array(Listener)
    features: list[Feature] = array(Feature)


@message(api_key=70, versions=(0, 0), flexible=0)
class ControllerRegistrationResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
