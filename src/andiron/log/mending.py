"""What can be kept of a damaged metadata log, and how it is made to hold again.

    │ holds │ ✗ │ whole …        no snapshot beyond ✗: cut there; what is whole behind it is lost
    │ holds │ ✗ │ … ┊ whole …    a snapshot ends at ┊: the log begins there, and nothing is lost

Whole records behind the damage cannot be kept without those in between: they speak of topics and epochs that would be
missing. A snapshot stands for these.

The damaged files stay beside the log, as `.damaged`. What is new is whole on the disk before it gets its name.

Read next: damage.py; `andiron log mend` is who asks.
"""

from __future__ import annotations

from typing import NamedTuple

from andiron.log import layout
from andiron.log.damage import Damage, segments
from andiron.log.disk import Disk
from andiron.log.flushed_mark import FlushedMark
from andiron.model.ids import Offset
from andiron.records.batch import Batch

DAMAGED = ".damaged"
_DRAFT = ".mended"


class MendingPlan(NamedTuple):
    """What is kept behind the damage, and what is lost."""

    kept: list[Batch]
    lost: list[Batch]


def plan_mending(damage: Damage, snapshot: Offset) -> MendingPlan:
    """The most that can be kept, where a snapshot stands for everything before `snapshot`."""
    if snapshot <= damage.offset:
        return MendingPlan([], damage.behind)
    beyond = [batch for batch in damage.behind if batch.next_offset > snapshot]
    kept: list[Batch] = []
    reached = snapshot
    for batch in beyond:
        if batch.base_offset > reached:
            break
        kept.append(batch)
        reached = Offset(batch.next_offset)
    return MendingPlan(kept, beyond[len(kept) :])


def mend(disk: Disk, directory: str, damage: Damage, mending: MendingPlan) -> list[str]:
    """Do it; returns what the damaged files are called now."""
    there = segments(disk, directory)
    if mending.kept:
        base, data = mending.kept[0].base_offset, b"".join(batch.raw for batch in mending.kept)
        end, given_up = Offset(mending.kept[-1].next_offset), [path for _, path in there]
    else:
        base = next((base for base, path in there if path == damage.path), int(damage.offset))
        data = disk.open(damage.path).read(0, damage.position) if there else b""
        end, given_up = damage.offset, [path for first, path in there if first >= base]
    path = f"{directory}/{layout.file_name(base, layout.LOG)}"
    draft = disk.open(path + _DRAFT)
    draft.truncate(0)
    draft.append(data)
    draft.sync()
    draft.close()
    aside = [_free_name(disk, each) for each in given_up]
    for old, new in zip(given_up, aside, strict=True):
        disk.rename(old, new)
    disk.rename(path + _DRAFT, path)
    disk.sync_directory(directory)
    FlushedMark(disk, directory).lower_to(end)
    return aside


def _free_name(disk: Disk, path: str) -> str:
    name, number = path + DAMAGED, 1
    while disk.exists(name):
        number += 1
        name = f"{path}{DAMAGED}-{number}"
    return name
