"""DescribeConfigs (key 32), versions 1-4: settings, with where each value comes from.

Everything is read off the settings tables (model/settings.py) and the committed metadata;
a setting that has no effect here is not in a table, and so is not shown. A resource that is named twice is described
once, where Kafka does it twice.
"""

from __future__ import annotations

from functools import partial

from andiron.broker.broker import Broker
from andiron.broker.node.request import Request
from andiron.broker.node.slice_sizes import SIZES
from andiron.broker.node.slices import InSlices, each
from andiron.broker.settings.broker_settings import GROUP_ROWS, TOPIC_ROWS
from andiron.broker.settings.listeners import Scope
from andiron.broker.settings.loggers import levels
from andiron.broker.telemetry.client_metrics import CLIENT_METRICS_ROWS
from andiron.controller.configs import BROKER_LOGGER
from andiron.controller.image import BROKER, CLIENT_METRICS, GROUP, TOPIC
from andiron.controller.topics import name_fault
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.layers import Entry, Source, describe_broker, describe_brokers_default, describe_topic
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

API = ApiKey.DESCRIBE_CONFIGS
SERVED = ADVERTISED = (1, 4)
SCOPE = Scope.BOTH
ENTRIES_MAX = 100_000


def handle(broker: Broker, request: Request[DescribeConfigsRequest]) -> InSlices[DescribeConfigsResponse]:
    body = request.body
    named = {(each.resource_type, each.resource_name): each for each in body.resources}
    return DescribeConfigsResponse(
        results=(yield from each(named.values(), partial(_describe, broker, body), SIZES.described_resources))
    )


def _describe(
    broker: Broker, body: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    keys = resource.configuration_keys
    wanted = None if not keys else frozenset(keys)
    try:
        if resource.resource_type == BROKER_LOGGER:
            result.configs = [c for c in _loggers(broker, resource) if wanted is None or c.name in wanted]
            return result
        entries = _entries(broker, resource.resource_type, resource.resource_name)
    except ProtocolError as error:
        result.error_code, result.error_message = error.code.number, error.detail
        return result
    result.configs = [_shown(e, body) for e in entries if wanted is None or e.row.name in wanted]
    return result


def _entries(broker: Broker, kind: int, name: str) -> list[Entry]:
    if kind == TOPIC:
        if (fault := name_fault(name)) is not None:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(fault)
        if name not in broker.image.topics:
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"there is no topic {name}")
        return describe_topic(TOPIC_ROWS.values(), broker.image.configs_of(TOPIC, name), broker.live.layers())
    if kind == BROKER and name == "":
        return describe_brokers_default(broker.live.layers())
    if kind == BROKER and name == str(broker.settings.node_id):
        return describe_broker(broker.live.layers())
    if kind == BROKER:
        raise ErrorCode.INVALID_REQUEST.error(
            f"this is broker {broker.settings.node_id}, not {name}: ask that one"
        )
    if kind == GROUP and name:
        own = broker.image.configs_of(GROUP, name)
        return describe_topic(GROUP_ROWS.values(), own, broker.live.layers(), Source.GROUP)
    if kind == CLIENT_METRICS and name:
        own = broker.image.configs_of(CLIENT_METRICS, name)
        rows = CLIENT_METRICS_ROWS.values()
        return describe_topic(rows, own, broker.live.layers(), Source.CLIENT_METRICS)
    raise ErrorCode.INVALID_REQUEST.error(f"resources of type {kind} and name {name!r} have no settings here")


def _loggers(broker: Broker, resource: DescribeConfigsResource) -> list[DescribeConfigsResourceResult]:
    """The loggers of this broker, each a setting whose value is its level."""
    if resource.resource_name != str(broker.settings.node_id):
        raise ErrorCode.INVALID_REQUEST.error(
            f"this is broker {broker.settings.node_id}, not {resource.resource_name!r}: ask that one"
        )
    return [
        DescribeConfigsResourceResult(name=name, value=level, config_source=Source.BROKER_LOGGER)
        for name, level in levels().items()
    ]


def _shown(entry: Entry, body: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    row = entry.row
    return DescribeConfigsResourceResult(
        name=row.name,
        value=None if row.sensitive else entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=row.sensitive,
        synonyms=[DescribeConfigsSynonym(*given) for given in entry.synonyms]
        if body.include_synonyms
        else [],
        config_type=row.type.value,
        documentation=row.doc if body.include_documentation else None,
    )
