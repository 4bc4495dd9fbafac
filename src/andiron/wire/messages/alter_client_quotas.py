"""AlterClientQuotas (key 49), versions 0-1: set or remove quotas of users, clients and addresses.

A null entity name is the default entity. Kafka calls the entries of both messages EntryData; they
differ, so here each says whose it is. Flexible since 1.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, f64, i16, i32, message, string, struct


@struct
class EntityData:
    entity_type: str = string()
    entity_name: str | None = string(nullable=True)


@struct
class OpData:
    key: str = string()
    value: float = f64()
    remove: bool = boolean()


@struct
class AlterClientQuotasRequestEntry:
    entity: list[EntityData] = array(EntityData)
    ops: list[OpData] = array(OpData)


@message(api_key=49, versions=(0, 1), flexible=1)
class AlterClientQuotasRequest:
    entries: list[AlterClientQuotasRequestEntry] = array(AlterClientQuotasRequestEntry)
    validate_only: bool = boolean()


@struct
class AlterClientQuotasResponseEntry:
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    entity: list[EntityData] = array(EntityData)


@message(api_key=49, versions=(0, 1), flexible=1)
class AlterClientQuotasResponse:
    throttle_time_ms: int = i32()
    entries: list[AlterClientQuotasResponseEntry] = array(AlterClientQuotasResponseEntry)
