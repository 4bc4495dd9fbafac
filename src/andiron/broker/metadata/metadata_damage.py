"""What stops a controller before it loses its metadata: damage in what had been committed, or nothing left of it.

    the metadata log ─┬─ holds ───────────────────────────────────────────▶ start
                      ├─ does not, beyond what was flushed (a torn tail) ─▶ start; recovery cuts it
                      ├─ does not, and a snapshot stands for all of it ───▶ start; the log goes on from there
                      └─ does not, within what was flushed ───────────────▶ DamagedMetadata, nothing changed

Cut at the damage, topics would be gone that are whole behind it, and their folders be set aside. A node by itself has
no other to learn them from. A voter of several has; but it has told the others that it holds those records, and
without them it could elect a leader that never had them. So that is for an operator to decide too. A broker that
does not vote has promised nothing: it fetches again what it lacks.

Likewise a node by itself does not start without any metadata where there are partitions: their topics would be
nobody's. A disk was not mounted, most likely, or metadata.log.dir has changed.

Read next: log/damage.py, log/mending.py.
"""

from __future__ import annotations

from collections.abc import Iterable

from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.records import TopicRecord, decode_record
from andiron.log.damage import Damage
from andiron.model.errors import AndironError
from andiron.model.ids import Offset
from andiron.records.batch import Batch
from andiron.records.record import records_of

NAMED_MAX = 5


class DamagedMetadata(AndironError):
    """The metadata log has lost what was committed; the message says what, and what can be done."""


def is_lost(damage: Damage, flushed: Offset | None, snapshot: Offset) -> bool:
    """Whether a start would lose what had been `flushed` (None: all of it) and no `snapshot` stands for."""
    if flushed is None:
        return True
    return damage.offset < flushed and snapshot < max(damage.reach, flushed)


def damaged(damage: Damage, directory: str, settings: NodeSettings) -> DamagedMetadata:
    """The words for it: which file, what is behind, what each choice costs."""
    mend = f"`andiron log mend {directory}`"
    if settings.is_alone:
        choice = (
            f"put the file back from a backup; without one, {mend} shows what can be kept and what would be lost, "
            "and changes nothing before --execute"
        )
    else:
        choice = (
            f"if a majority of the other controllers is alive, and no other has lost its metadata, `{mend[1:-1]} "
            "--execute` takes out what is damaged, and this node fetches it from them; else put the file back from a "
            "backup"
        )
    return DamagedMetadata(
        f"{damage.path} is damaged at byte {damage.position} ({damage.reason}), in what had been committed; nothing "
        f"was changed, and this node does not start, for {_lost(damage)}. {choice[0].upper()}{choice[1:]}"
    )


def missing(directory: str, partitions: list[str]) -> DamagedMetadata:
    """The words for a node by itself that has partitions and no metadata."""
    return DamagedMetadata(
        f"there is no metadata in {directory}, and there are partitions ({named(partitions)}), which would be "
        "nobody's: put it back (is its disk mounted, is metadata.log.dir right?), or begin anew in an empty "
        "folder; nothing was changed"
    )


def topics_of(batches: Iterable[Batch]) -> list[str]:
    """The topics that were made in these batches of the metadata log."""
    names = []
    for batch in batches:
        for record in () if batch.is_control else records_of(batch):
            try:
                decoded = decode_record(record.value or b"")
            except AndironError:
                continue  # of a later version
            if isinstance(decoded, TopicRecord):
                names.append(decoded.name)
    return names


def named(names: list[str]) -> str:
    """The first of them, and how many more there are."""
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _lost(damage: Damage) -> str:
    if not damage.behind:
        return "what came from there on cannot be read"
    topics = topics_of(damage.behind)
    told = f", among them those of topics {named(topics)}" if topics else ""
    return f"{damage.records} whole records behind it, up to offset {damage.reach - 1}, would be lost with it{told}"
