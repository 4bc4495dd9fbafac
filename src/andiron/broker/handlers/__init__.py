"""One module an API: its card, its versions, and what it answers.

A module has `API`, the versions it has `SERVED` and those `ADVERTISED` in ApiVersions (the
same but for Produce), and `handle(broker, request)`, which returns a response, a Wait, or
None where nobody waits for an answer. To serve an API is to add its module to the list.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from andiron.broker.handlers import (
    alter_configs,
    api_versions,
    create_partitions,
    create_topics,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_topic_partitions,
    fetch,
    find_coordinator,
    incremental_alter_configs,
    init_producer_id,
    list_config_resources,
    list_offsets,
    metadata,
    offset_for_leader_epoch,
    produce,
)


class Handler(NamedTuple):
    """A row of the table below."""

    api: int
    served: tuple[int, int]
    advertised: tuple[int, int]
    handle: Callable[..., Any]


def _row(module: ModuleType) -> Handler:
    return Handler(module.API, module.SERVED, module.ADVERTISED, module.handle)


HANDLERS = {
    row.api: row
    for row in map(
        _row,
        [
            produce,
            fetch,
            list_offsets,
            metadata,
            find_coordinator,
            api_versions,
            create_topics,
            delete_topics,
            delete_records,
            init_producer_id,
            offset_for_leader_epoch,
            describe_configs,
            alter_configs,
            describe_log_dirs,
            create_partitions,
            incremental_alter_configs,
            describe_cluster,
            list_config_resources,
            describe_topic_partitions,
        ],
    )
}
