"""One module an API: its card, its versions, and what it answers.

A module has `API`, the versions it has `SERVED` and those `ADVERTISED` in ApiVersions (the
same but for Produce), and `handle(broker, request)`, which returns a response, a Wait, or
None where nobody waits for an answer, or a generator of one of these if it goes on in
slices (broker/node/slices.py). Its `ENTRIES_MAX`, if it has one, says how many entries a request
may have in all its arrays together; its `SCOPE`, if it has one, that it is served on the
controllers' listeners, too or only. To serve an API is to add its module to the list.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from andiron.broker.handlers import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    add_raft_voter,
    allocate_producer_ids,
    alter_configs,
    alter_partition,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    api_versions,
    assign_replicas_to_dirs,
    begin_quorum_epoch,
    broker_heartbeat,
    broker_registration,
    consumer_group_describe,
    consumer_group_heartbeat,
    controller_registration,
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
    describe_quorum,
    describe_topic_partitions,
    describe_transactions,
    elect_leaders,
    end_quorum_epoch,
    end_txn,
    envelope,
    fetch,
    fetch_snapshot,
    find_coordinator,
    get_telemetry_subscriptions,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    list_transactions,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    push_telemetry,
    remove_raft_voter,
    sync_group,
    txn_offset_commit,
    unregister_broker,
    update_features,
    update_raft_voter,
    vote,
    write_txn_markers,
)
from andiron.broker.settings.listeners import Scope

# What a handler that does it all in one step may be asked for, at some microseconds an entry.
ENTRIES_MAX = 20_000


class Handler(NamedTuple):
    """A row of the table below."""

    api: int
    served: tuple[int, int]
    advertised: tuple[int, int]
    handle: Callable[..., Any]
    scope: Scope
    entries_max: int

    def serves(self, version: int) -> bool:
        return self.served[0] <= version <= self.served[1]


def _row(module: ModuleType) -> Handler:
    scope = getattr(module, "SCOPE", Scope.BROKER)
    entries_max = getattr(module, "ENTRIES_MAX", ENTRIES_MAX)
    return Handler(module.API, module.SERVED, module.ADVERTISED, module.handle, scope, entries_max)


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
            alter_replica_log_dirs,
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
            get_telemetry_subscriptions,
            push_telemetry,
            list_config_resources,
            describe_topic_partitions,
            elect_leaders,
            alter_partition_reassignments,
            list_partition_reassignments,
            unregister_broker,
            describe_quorum,
            vote,
            begin_quorum_epoch,
            end_quorum_epoch,
            fetch_snapshot,
            add_raft_voter,
            remove_raft_voter,
            update_raft_voter,
            update_features,
            envelope,
            broker_registration,
            broker_heartbeat,
            controller_registration,
            alter_partition,
            allocate_producer_ids,
            assign_replicas_to_dirs,
        ],
    )
}
