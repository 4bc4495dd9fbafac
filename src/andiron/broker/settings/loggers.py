"""The loggers of a node and their levels, under Kafka's names for these: what the resource BROKER_LOGGER is.

    kafka-configs --alter --entity-type broker-loggers --entity-name 1 --add-config andiron.broker.replicas=DEBUG

They are Python's own, of the whole process, and a level lasts until it is changed or the process ends. A logger without
a level has that of the package around it, up to the root.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from andiron.model.errors import ErrorCode
from andiron.wire.messages.incremental_alter_configs import AlterableConfig

ROOT = "root"
OURS = "andiron"
LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
SET, DELETE = 0, 1


def levels() -> dict[str, str]:
    """The level that counts for each logger, by its name."""
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == OURS]
    return {name: _shown(_logger(name).getEffectiveLevel()) for name in (ROOT, *sorted(known))}


def alter(changes: Iterable[AlterableConfig], *, validate_only: bool) -> None:
    """Set levels, or take them back; all of them, or none if one cannot be."""
    changes, known = list(changes), levels()
    for change in changes:
        _check(change, known)
    for change in changes if not validate_only else ():
        level = LEVELS[change.value or ""] if change.config_operation == SET else logging.NOTSET
        _logger(change.name).setLevel(level)


def _check(change: AlterableConfig, known: dict[str, str]) -> None:
    name, operation = change.name, change.config_operation
    if operation not in (SET, DELETE):
        raise ErrorCode.INVALID_REQUEST.error(f"{name}: a level is set or taken back, and nothing else")
    if name not in known:
        raise ErrorCode.INVALID_CONFIG.error(f"{name}: there is no such logger")
    if operation == DELETE and name == ROOT:
        raise ErrorCode.INVALID_REQUEST.error("the root of all loggers must have a level")
    if operation == SET and change.value not in LEVELS:
        raise ErrorCode.INVALID_CONFIG.error(f"{name}: {change.value} is none of {', '.join(LEVELS)}")


def _logger(name: str) -> logging.Logger:
    return logging.root if name == ROOT else logging.getLogger(name)


def _shown(level: int) -> str:
    """The nearest level of Kafka's that lets no less through."""
    return next((name for name, least in reversed(LEVELS.items()) if least <= level), "TRACE")
