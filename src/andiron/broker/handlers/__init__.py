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
    add_offsets_to_txn,
    add_partitions_to_txn,
    alter_configs,
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    describe_transactions,
    end_txn,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    list_transactions,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    sync_group,
    txn_offset_commit,
    write_txn_markers,
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
            offset_commit,
            offset_fetch,
            find_coordinator,
            join_group,
            heartbeat,
            leave_group,
            sync_group,
            describe_groups,
            list_groups,
            api_versions,
            create_topics,
            delete_topics,
            delete_records,
            init_producer_id,
            offset_for_leader_epoch,
            add_partitions_to_txn,
            add_offsets_to_txn,
            end_txn,
            write_txn_markers,
            txn_offset_commit,
            describe_configs,
            alter_configs,
            describe_log_dirs,
            create_partitions,
            delete_groups,
            incremental_alter_configs,
            offset_delete,
            describe_cluster,
            describe_producers,
            describe_transactions,
            list_transactions,
            consumer_group_heartbeat,
            consumer_group_describe,
            list_config_resources,
            describe_topic_partitions,
        ],
    )
}
