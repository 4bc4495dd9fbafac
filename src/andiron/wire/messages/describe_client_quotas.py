"""DescribeClientQuotas (key 48), versions 0-1: the quotas that match a filter.

A component matches an entity exactly (0), by the default (1) or by any name (2); a null entity name is
the default entity. `strict` leaves out entities with more parts than asked for. Flexible since 1.
"""

from __future__ import annotations

from andiron.wire.schema import array, boolean, f64, i8, i16, i32, message, string, struct


@struct
class ComponentData:
    entity_type: str = string()
    match_type: int = i8()
    match: str | None = string(nullable=True, default=None)


@message(api_key=48, versions=(0, 1), flexible=1)
class DescribeClientQuotasRequest:
    components: list[ComponentData] = array(ComponentData)
    strict: bool = boolean()


@struct
class EntityData:
    entity_type: str = string()
    entity_name: str | None = string(nullable=True)


@struct
class ValueData:
    key: str = string()
    value: float = f64()


@struct
class EntryData:
    entity: list[EntityData] = array(EntityData)
    values: list[ValueData] = array(ValueData)


@message(api_key=48, versions=(0, 1), flexible=1)
class DescribeClientQuotasResponse:
    throttle_time_ms: int = i32()
    error_code: int = i16()
    error_message: str | None = string(nullable=True, default=None)
    entries: list[EntryData] | None = array(EntryData, nullable=True)
