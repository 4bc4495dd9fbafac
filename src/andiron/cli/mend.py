"""`andiron log mend`: repairs a damaged metadata log (`__cluster_metadata-0`), with as much kept as can be.

A start refuses damage in what was committed (broker/metadata/metadata_damage.py) and names this command. It shows what
would be kept and what lost, and changes nothing until it is told to; the damaged files stay beside the log.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import click

from andiron.broker.metadata.metadata_damage import topics_of
from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.metadata.snapshot_files import SnapshotFiles
from andiron.cli.failure import Failure
from andiron.cli.options import json_option
from andiron.cli.output import plural, print_json
from andiron.edge.disk import PosixDisk
from andiron.log import mending
from andiron.log.damage import Damage, find_damage
from andiron.log.directory import META
from andiron.log.flushed_mark import FlushedMark
from andiron.log.mending import MendingPlan, plan_mending
from andiron.model.errors import AndironError
from andiron.model.ids import Offset
from andiron.quorum.snapshot_format import parse_file_name


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, readable=True))
@click.option("--execute", is_flag=True, help="Do it; without this it is only shown.")
@json_option
def mend(directory: str, execute: bool, as_json: bool) -> None:
    """Repair the damaged metadata log of a stopped node.

    Without --execute, only show what would be kept and what lost.

    What is whole behind the damage can be kept where a snapshot stands for what is damaged; else the log is cut
    there, and the topics that were made later are gone: their records stay on the disk, in folders that the next
    start calls -stray. A backup of the file is better than either. The damaged files are kept as *.damaged.

    \b
    Examples:
      andiron log mend data/__cluster_metadata-0
      andiron log mend data/__cluster_metadata-0 --execute
    """
    folder = _metadata_folder(directory)
    with _locked(os.path.dirname(folder)) as disk:
        damage = find_damage(disk, folder, FlushedMark(disk, folder).load())
        plan = None if damage is None else plan_mending(damage, _snapshot(disk, folder))
        if not as_json:
            for line in _told(folder, damage, plan):
                click.echo(line)
        aside: list[str] = []
        if execute and damage is not None and plan is not None:
            aside = mending.mend(disk, folder, damage, plan)
    if as_json:
        print_json(_as_json(folder, damage, plan, mended=execute and damage is not None, aside=aside))
    elif damage is not None and execute:
        click.echo(f"Done; what was damaged is kept: {', '.join(aside) or 'nothing was there'}")
    elif damage is not None:
        click.echo("Nothing was changed; --execute does it, and keeps the damaged files as *.damaged.")


def _as_json(
    folder: str, damage: Damage | None, plan: MendingPlan | None, *, mended: bool, aside: list[str]
) -> dict[str, Any]:
    """Damage and plan as JSON; `damage` is null where there is none."""
    if damage is None or plan is None:
        return {"folder": folder, "damage": None, "mended": False}
    return {
        "folder": folder,
        "damage": {
            "path": damage.path,
            "position": damage.position,
            "offset": damage.offset,
            "reason": damage.reason,
        },
        "behind_records": damage.records,
        "kept_from": plan.kept[0].base_offset if plan.kept else None,
        "lost_records": sum(batch.count for batch in plan.lost),
        "lost_topics": list(topics_of(plan.lost)),
        "mended": mended,
        "aside": aside,
    }


def _told(folder: str, damage: Damage | None, plan: MendingPlan | None) -> Iterator[str]:
    if damage is None or plan is None:
        yield f"{folder}: all of it holds; there is nothing to mend"
        return
    yield f"{damage.path} is damaged at byte {damage.position}: {damage.reason}"
    behind = plural(damage.records, "whole record")
    yield f"  holds: everything before offset {damage.offset}"
    yield f"  behind the damage: {behind}" + (f", up to offset {damage.reach - 1}" if damage.behind else "")
    if plan.kept:
        yield f"  kept of that: from offset {plan.kept[0].base_offset} on; a snapshot stands for what is before"
    if plan.lost:
        topics = topics_of(plan.lost)
        yield f"  lost: {plural(sum(batch.count for batch in plan.lost), 'record')}"
        if topics:
            yield f"  lost topics: {', '.join(topics)}"
    elif not damage.behind:
        yield f"  lost: whatever came from offset {damage.offset} on, unless a snapshot has it"
    else:
        yield "  lost: nothing"


def _metadata_folder(directory: str) -> str:
    """The folder of the metadata log: itself, or the one in a data directory."""
    path = os.path.abspath(directory)
    if os.path.basename(path) == str(METADATA):
        return path
    inner = os.path.join(path, str(METADATA))
    if not os.path.isdir(inner):
        raise Failure(
            f"{directory} has no {METADATA}: only the metadata log is mended; other partitions are recovered at a start"
        )
    return inner


@contextlib.contextmanager
def _locked(log_directory: str) -> Iterator[PosixDisk]:
    """The disk, with every node kept out of the log directory."""
    disk = PosixDisk()
    try:
        if os.path.exists(os.path.join(log_directory, META)):
            disk.lock(log_directory)
        yield disk
    finally:
        disk.close_all()


def _snapshot(disk: PosixDisk, folder: str) -> Offset:
    """Where the newest snapshot ends that can be read to its end."""
    files, found = SnapshotFiles(disk, folder), map(parse_file_name, disk.names(folder))
    for id in sorted((each.id for each in found if each is not None and not each.is_part), reverse=True):
        with contextlib.suppress(AndironError, OSError):
            for _ in files.entries(id):
                pass
            return id.end
    return Offset(0)
