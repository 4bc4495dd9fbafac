"""Settings of topics, brokers, groups and subscriptions to clients' metrics are changed.

    AlterConfigs              all settings of a resource at once: what is not named goes back to its default
    IncrementalAlterConfigs   single ones: set, delete, append to a list, subtract from it

Both come down to the settings that the resource should have in the end. These are checked as a whole, and
what differs from now is written. Topics have the settings of their table; a broker has those of its own that
may change while it runs, and the broker named "" stands for all of them; a group may have some before it is there.
"""

from __future__ import annotations

import enum
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from andiron.controller.features import ELR_VERSION
from andiron.controller.image import BROKER, CLIENT_METRICS, GROUP, TOPIC, Image
from andiron.controller.records import ConfigRecord, MetadataRecord
from andiron.controller.settings import MIN_INSYNC, ControllerSettings
from andiron.controller.topics import name_fault
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NodeId
from andiron.model.line import Line
from andiron.model.machine import Decision
from andiron.model.settings import LIST, Row, SettingError, meant
from andiron.wire.messages import alter_configs as legacy
from andiron.wire.messages import incremental_alter_configs as incremental

BROKER_LOGGER = 8

log = logging.getLogger(__name__)


class Operation(enum.IntEnum):
    """What IncrementalAlterConfigs does to a setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Resource(Protocol):
    """What is asked of one resource; the two requests spell it alike."""

    resource_type: int
    resource_name: str
    configs: Any


def alter_configs(
    request: legacy.AlterConfigsRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Replace all settings of each resource."""
    alteration = _Alteration(image, settings)
    decided = alteration.decide_all(request.resources, alteration.replaced)
    response = legacy.AlterConfigsResponse(
        responses=[legacy.AlterConfigsResourceResponse(*outcome) for outcome in decided]
    )
    return Decision(response, [] if request.validate_only else alteration.records)


def incremental_alter_configs(
    request: incremental.IncrementalAlterConfigsRequest, image: Image, settings: ControllerSettings
) -> Decision[MetadataRecord]:
    """Change single settings of each resource."""
    alteration = _Alteration(image, settings)
    decided = alteration.decide_all(request.resources, alteration.changed)
    response = incremental.IncrementalAlterConfigsResponse(
        responses=[incremental.AlterConfigsResourceResponse(*outcome) for outcome in decided]
    )
    return Decision(response, [] if request.validate_only else alteration.records)


class _Alteration:
    """One request while it is being decided."""

    def __init__(self, image: Image, settings: ControllerSettings) -> None:
        self.records: list[MetadataRecord] = []
        self._image, self._settings = image, settings

    def decide_all(
        self, resources: Sequence[Resource], wanted: Callable[[Any], dict[str, str]]
    ) -> list[tuple[int, str | None, int, str]]:
        """(error code, message, resource type, name) of each resource, in their order."""
        keys = [(each.resource_type, each.resource_name) for each in resources]
        outcomes: list[tuple[int, str | None, int, str]] = []
        counts = Counter(keys)
        for key, resource in dict(zip(keys, resources, strict=True)).items():
            try:
                if counts[key] > 1:
                    raise ErrorCode.INVALID_REQUEST.error("the resource is there twice")
                self._check_resource(*key)
                self._check_names([config.name for config in resource.configs])
                self._write(key, wanted(resource))
            except ProtocolError as error:
                outcomes.append((error.code.number, error.detail, *key))
            else:
                outcomes.append((ErrorCode.NONE.number, None, *key))
        return outcomes

    # ── what the resource should have in the end ─────────────────────────────────────

    def replaced(self, resource: legacy.AlterConfigsResource) -> dict[str, str]:
        return {config.name: _given(config.name, config.value) for config in resource.configs}

    def changed(self, resource: incremental.AlterConfigsResource) -> dict[str, str]:
        kind, name = resource.resource_type, resource.resource_name
        wanted = dict(self._image.configs_of(kind, name))
        for config in resource.configs:
            match config.config_operation:
                case Operation.SET:
                    wanted[config.name] = _given(config.name, config.value)
                case Operation.DELETE:
                    wanted.pop(config.name, None)
                case Operation.APPEND | Operation.SUBTRACT:
                    wanted[config.name] = self._combined(kind, config, wanted)
                case unknown:
                    raise ErrorCode.INVALID_REQUEST.error(f"{config.name}: there is no operation {unknown}")
        return wanted

    def _combined(self, kind: int, config: incremental.AlterableConfig, wanted: Mapping[str, str]) -> str:
        row = self._row(kind, config.name)
        if row.type is not LIST:
            raise ErrorCode.INVALID_CONFIG.error(
                f"{row.name}: it is not a list, to be added to or taken from"
            )
        items = _items(_given(row.name, config.value))
        if row.name in wanted:
            before = _items(wanted[row.name])
        else:
            layers = self._settings.layers(self._image)
            before = list((layers.value(row.name) if kind == BROKER else layers.topic_value(row)) or ())
        if config.config_operation == Operation.APPEND:
            after = [*before, *(item for item in items if item not in before)]
        else:
            after = [item for item in before if item not in items]
        return ",".join(after)

    # ── checks ───────────────────────────────────────────────────────────────────────

    def _check_resource(self, kind: int, name: str) -> None:
        if kind == TOPIC:
            self._check_topic_is_there(name)
        elif kind == BROKER:
            if name and not (name.isascii() and name.isdecimal()):
                raise ErrorCode.INVALID_REQUEST.error(f"a broker is named by its number, not {name!r}")
            if name and NodeId(int(name)) not in self._image.brokers:
                raise ErrorCode.BROKER_ID_NOT_REGISTERED.error(f"broker {name} is not registered")
        elif kind == GROUP:
            if not name:
                raise ErrorCode.INVALID_REQUEST.error("there is no default of all groups; brokers have it")
        elif kind == CLIENT_METRICS:
            if not name:
                raise ErrorCode.INVALID_REQUEST.error("a subscription to clients' metrics has a name")
        elif kind == BROKER_LOGGER:
            raise ErrorCode.INVALID_REQUEST.error(
                "the loggers of a broker are set by IncrementalAlterConfigs, sent to that broker"
            )
        else:
            raise ErrorCode.INVALID_REQUEST.error(f"resources of type {kind} have no settings here")

    def _check_topic_is_there(self, name: str) -> None:
        if not name:
            raise ErrorCode.INVALID_REQUEST.error(
                "there is no default of all topics; brokers have their defaults"
            )
        if (fault := name_fault(name)) is not None:
            raise ErrorCode.INVALID_TOPIC_EXCEPTION.error(fault)
        if name not in self._image.topics:
            raise ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.error(f"there is no topic {name}")

    def _check_names(self, names: list[str]) -> None:
        if len(set(names)) < len(names):
            raise ErrorCode.INVALID_REQUEST.error("a setting is there twice")

    def _check_values(self, kind: int, wanted: Mapping[str, str]) -> None:
        # As in Kafka: a value that a topic cannot have is an invalid setting, of a broker an invalid request.
        code = ErrorCode.INVALID_REQUEST if kind == BROKER else ErrorCode.INVALID_CONFIG
        try:
            if kind == TOPIC:
                self._settings.check_topic(wanted, self._image)
            elif kind == GROUP:
                for name in wanted:
                    self._row(kind, name)
                self._settings.check_group(wanted, self._image)
            elif kind == CLIENT_METRICS:
                for name, text in wanted.items():
                    # As in Kafka: what is not even a pattern is an invalid setting, all else an invalid request.
                    code = ErrorCode.INVALID_CONFIG if name == "match" else ErrorCode.INVALID_REQUEST
                    self._row(kind, name).parse(text)
            else:
                for name, text in wanted.items():
                    self._check_broker_value(self._row(kind, name), text)
        except SettingError as error:
            raise code.error(str(error)) from error

    def _check_broker_value(self, row: Row, text: str) -> None:
        if row.reload != "live":
            raise ErrorCode.INVALID_REQUEST.error(f"{row.name}: it cannot change while the broker runs")
        row.parse(text)

    def _row(self, kind: int, name: str) -> Row:
        settings = self._settings
        tables = {
            TOPIC: settings.topic_rows,
            GROUP: settings.group_rows,
            CLIENT_METRICS: settings.client_metrics_rows,
            BROKER: settings.broker_rows,
        }
        table = tables[kind]
        if name not in table:
            code = ErrorCode.INVALID_REQUEST if kind == CLIENT_METRICS else ErrorCode.INVALID_CONFIG
            raise code.error(f"{name}: there is no such setting{meant(name, table)}")
        return table[name]

    def _check_same_everywhere(
        self, broker: str, before: Mapping[str, str], wanted: Mapping[str, str]
    ) -> None:
        """The controller and all leaders must go by one number, or it is not known who is eligible to lead."""
        name = MIN_INSYNC
        if broker and wanted.get(name) not in (None, before.get(name)):
            raise ErrorCode.INVALID_CONFIG.error(f"{name}: give it to all brokers, not to one")
        if not broker and name in before and name not in wanted:
            raise ErrorCode.INVALID_CONFIG.error(
                f"{name}: change it, and do not take it away, while {ELR_VERSION} is on"
            )

    def _write(self, key: tuple[int, str], wanted: dict[str, str]) -> None:
        """Check what the resource should have, and note down the difference to what it has."""
        before = self._image.configs_of(*key)
        self._check_values(key[0], wanted)
        if key[0] == BROKER and ELR_VERSION in self._image.features:
            self._check_same_everywhere(key[1], before, wanted)
        for name in before:
            if name not in wanted:
                self.records.append(ConfigRecord(*key, name, None))
        for name, value in wanted.items():
            if before.get(name) != value:
                self.records.append(ConfigRecord(*key, name, value))
                row = self._row(key[0], name)
                if row.inert and row.parse(value) != row.default:
                    log.warning(Line(
                        "Setting {setting} has no effect here",
                        setting=name, resource=key[1] or "all brokers", reason=row.inert,
                    ))  # fmt: skip


def _given(name: str, value: str | None) -> str:
    if value is None:
        raise ErrorCode.INVALID_REQUEST.error(f"{name}: there is no value")
    return value


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
