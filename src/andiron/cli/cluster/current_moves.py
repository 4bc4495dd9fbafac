"""Reassignments that are under way: shown with how much of them is copied (--status, --verify), and cancelled.

    done         its replicas are what the plan says
    under way    the new ones are being copied; with what share of the leader's bytes, where that is known
    not begun    neither: it was called off, or never asked for; told only beside a plan

Whoever asks to be sure (--verify) has throttles taken away with that, once nothing is under way any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from andiron.cli.cluster.replica_moves import (
    Progress,
    ReplicaMoves,
    check_refusals,
    refusals_as_json,
    replicas_of,
)
from andiron.cli.confirmation import confirm
from andiron.cli.output import columns, plural, print_json, remark
from andiron.cli.selections import partitions_as_json, show_partitions
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.reassignments import Assignment, Reassignment
from andiron.model.ids import TopicPartition

HEAD = ("TOPIC", "PARTITION", "STATE", "REPLICAS", "ADDING", "REMOVING", "COPIED")


def show_status(
    client: Client, wanted: Sequence[TopicPartition] | None, plan: Assignment, *, clear: bool, as_json: bool
) -> None:
    """Show reassignments of these partitions or of all; with `clear`, remove throttles if none is under way."""
    admin, moving = ClusterAdmin(client), ReplicaMoves(client)
    moves = admin.reassignments(wanted)
    rows = _rows(moves, moving.progress(moves), plan, replicas_of(admin.topics()) if plan else {})
    if as_json:
        print_json(rows)
    elif rows:
        click.echo(columns(HEAD, [_cells(row) for row in rows]))
    if moves:
        remark(f"{plural(len(moves), 'partition')} under way")
        return
    remark("nothing is under way")
    if clear:
        topics = (
            {each.topic for each in wanted} if wanted is not None else {each.name for each in admin.topics()}
        )
        moving.unthrottle(sorted(topics))


def call_off(client: Client, wanted: Sequence[TopicPartition] | None, *, yes: bool, as_json: bool) -> None:
    """Cancel reassignments: replicas that are not in sync yet are dropped, and the old ones stay."""
    admin = ClusterAdmin(client)
    moves = admin.reassignments(wanted)
    if not moves:
        remark("nothing is under way; there is nothing to call off")
    else:
        confirm(f"Call off the moves of {show_partitions(moves)}?", yes)
    refused = admin.cancel_reassignments(moves) if moves else {}
    done = [each for each in sorted(moves) if each not in refused]
    if as_json:
        print_json({"called_off": partitions_as_json(done), "refused": refusals_as_json(refused)})
    elif done and not refused:
        click.echo(f"called off: {plural(len(done), 'partition')} as before")
    check_refusals(refused, len(moves), "called off")


def _rows(
    moves: dict[TopicPartition, Reassignment],
    progress: dict[TopicPartition, Progress],
    plan: Assignment,
    now: Assignment,
) -> list[dict[str, Any]]:
    found = [_row(each, "under way", move, progress.get(each)) for each, move in sorted(moves.items())]
    for each in sorted(plan):
        if each not in moves:
            replicas = list(now.get(each, ()))
            state = "done" if replicas == list(plan[each]) else "not begun"
            found.append(_row(each, state, Reassignment(replicas, [], []), None))
    return found


def _row(
    partition: TopicPartition, state: str, move: Reassignment, progress: Progress | None
) -> dict[str, Any]:
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "state": state,
        "replicas": move.replicas,
        "adding": move.adding,
        "removing": move.removing,
        "copied_bytes": None if progress is None else progress.copied,
        "total_bytes": None if progress is None else progress.total,
    }


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    known = row["adding"] and row["total_bytes"] is not None
    copied = f"{Progress(row['copied_bytes'], row['total_bytes']).percent}%" if known else None
    lists = [_numbers(row[name]) for name in ("replicas", "adding", "removing")]
    return (row["topic"], row["partition"], row["state"], *lists, copied)


def _numbers(brokers: Iterable[int]) -> str | None:
    return ",".join(map(str, brokers)) or None
