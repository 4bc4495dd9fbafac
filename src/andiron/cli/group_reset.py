"""`andiron group reset`: move a group's offsets, after a look at what that means.

    --topic, --all-topics ──▶ partitions ─┐
    --to-…, --shift-by ─────▶ target ─────┴─▶ plan ──▶ table ──▶ --execute: commit

The law: nothing is changed without --execute, and never while the group has members: they would go on from
where they are, and their next commit would undo it.
"""

from __future__ import annotations

from typing import Any

import click

from andiron.cli.failure import Failure
from andiron.cli.group_report import unserved
from andiron.cli.options import as_duration, as_time, bootstrap_option, json_option
from andiron.cli.output import columns, plural, print_json, remark
from andiron.cli.selections import Selection, as_selections, chosen, show_partitions
from andiron.cli.times import now_ms
from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.client.core.group_descriptions import SHARE, GroupDescription
from andiron.client.core.offset_reset import Move, Target
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition


@click.command()
@click.argument("name")
@click.option(
    "--topic",
    "selections",
    callback=as_selections,
    multiple=True,
    metavar="TOPIC[:0-3,7]",
    help="A topic, or some of its partitions; may be given again.",
)
@click.option(
    "--all-topics", is_flag=True, help="Every partition of which the group has committed something."
)
@click.option("--to-earliest", is_flag=True, help="To the oldest record there is.")
@click.option("--to-latest", is_flag=True, help="To the end: what is there now is passed over.")
@click.option("--to-offset", type=click.IntRange(0), metavar="N", help="To this offset.")
@click.option("--shift-by", type=int, metavar="±N", help="By so many, from what is committed.")
@click.option(
    "--to-time",
    callback=as_time,
    metavar="TIME",
    help="To the first record of that time or later: 2024-05-01T12:30, @1714566600000, '5m ago'.",
)
@click.option(
    "--by-duration",
    callback=as_duration,
    metavar="DURATION",
    help="To the first record of the last so many: 30s, 1h30m, 2d.",
)
@click.option("--execute", is_flag=True, help="Do it; without this it is only shown.")
@json_option
@bootstrap_option
def reset(
    *,
    name: str,
    selections: list[Selection],
    all_topics: bool,
    to_earliest: bool,
    to_latest: bool,
    to_offset: int | None,
    shift_by: int | None,
    to_time: int | None,
    by_duration: int | None,
    execute: bool,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Reset the committed offsets of a group; without --execute, only show how.

    The group must have no members. A place outside of a log is moved to its nearer end. Kafka's tool is
    kafka-consumer-groups --reset-offsets.

    \b
    Examples:
      andiron group reset billing --topic orders --to-earliest
      andiron group reset billing --topic orders:0-3 --to-time '2h ago' --execute
      andiron group reset billing --all-topics --shift-by -100 --execute
    """
    targets = [
        *([Target(time=EARLIEST)] if to_earliest else []),
        *([Target(time=LATEST)] if to_latest else []),
        *([Target(offset=to_offset)] if to_offset is not None else []),
        *([Target(shift=shift_by)] if shift_by is not None else []),
        *([Target(time=to_time)] if to_time is not None else []),
        *([Target(time=max(0, now_ms() - by_duration))] if by_duration is not None else []),
    ]
    if len(targets) != 1:
        raise click.UsageError(
            "where to? give one of --to-earliest, --to-latest, --to-offset, --shift-by, --to-time, --by-duration"
        )
    if bool(selections) == all_topics:
        raise click.UsageError("which partitions? give either --topic or --all-topics")
    with Client(bootstrap) as client:
        admin = GroupAdmin(client)
        group = _inactive(admin, name)
        partitions = chosen(client, selections) if selections else _all_committed(admin, name)
        moves = admin.plan_reset(name, partitions, targets[0])
        if execute:
            admin.commit(name, {move.partition: move.after for move in moves})
    if as_json:
        print_json([_as_json(move, execute) for move in moves])
    else:
        click.echo(columns(("TOPIC", "PARTITION", "COMMITTED", "NEW", "CHANGE", "NOTE"), map(_row, moves)))
    remark(_outcome(name, group, moves, execute))


def _inactive(admin: GroupAdmin, name: str) -> GroupDescription | None:
    """The group, which must have no members; None if there is no such group yet."""
    try:
        group = admin.describe(name)
    except ProtocolError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        return None
    if group.type == SHARE:
        raise Failure(f"{name!r} is a share group, which has no offsets of this kind; {unserved(SHARE)}")
    if group.is_active and not group.is_of_consumers:
        raise Failure(f"{name!r} is a {group.type} group that has members; {unserved(group.type)}")
    if group.is_active:
        raise Failure(
            f"group {name!r} is {group.state} and has {plural(len(group.members), 'member')}, which would undo "
            f"a reset; stop them first (`andiron group describe {name}` shows them)"
        )
    return group


def _outcome(name: str, group: GroupDescription | None, moves: list[Move], executed: bool) -> str:
    if executed:
        return f"{name}: {plural(len(moves), 'offset')} set"
    made = "" if group else f"; there is no group {name!r} yet, and that makes one"
    return f"nothing was changed; --execute does it{made}"


def _all_committed(admin: GroupAdmin, name: str) -> list[TopicPartition]:
    """What the group has committed, of topics that are still there."""
    committed = sorted(admin.committed(name))
    there = admin.led(committed)
    if not committed:
        raise Failure(f"group {name!r} has committed nothing; name topics with --topic")
    if len(there) < len(committed):
        left_out = show_partitions(each for each in committed if each not in there)
        remark(f"left out, since they are gone or have no leader: {left_out}")
    return there


def _row(move: Move) -> tuple[Any, ...]:
    change = None if move.before is None else f"{move.after - move.before:+d}"
    return (*move.partition, move.before, move.after, change, move.note)


def _as_json(move: Move, executed: bool) -> dict[str, Any]:
    return {
        "topic": move.partition.topic,
        "partition": move.partition.partition,
        "committed": move.before,
        "new": move.after,
        "note": move.note or None,
        "executed": executed,
    }
