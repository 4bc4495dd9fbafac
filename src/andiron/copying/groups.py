"""Groups of a copy: committed offsets of the source are translated and committed on the target.

    source   group g, orders-0: 350 ──offset map──▶ 348   committed on the target, with its metadata

A commit names the record to be read next, so its translation is where that record lies on the target; of a record that
is not copied, where the next one does. One that is ahead of the copy waits at the copy's end. Backwards is as good as
forwards: a group that is reset on the source is reset on the target.

The law: a group that goes on by itself on the target is left alone: one with members, and one whose offsets there are
not those that the copy has committed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.group_descriptions import CommittedOffset
from andiron.copying.cluster_side import SOURCE, TARGET, Side, on
from andiron.copying.partition_copy import PartitionCopy
from andiron.copying.selection import matches
from andiron.copying.state import Ours
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition

Offsets = dict[TopicPartition, int]


@dataclass
class GroupReport:
    """The translation of one group's offsets, from source to target, or why it was left alone."""

    group: str
    offsets: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    left_alone: str = ""


def translated(client: Client, copy: PartitionCopy, offset: int, committed: bool) -> int:
    """The target's offset for a committed `offset` of the source."""
    found = copy.map.target_of(offset, copy.target)
    sparse = copy.map.sparse_at(offset)
    if sparse is None:
        return found
    with ColumnReader(client, copy.partition, sparse.source, offset, committed=committed) as reader:
        before: int = sum(rows.num_rows for rows in reader)
    return min(found + before, sparse.target_end, copy.target)


def is_its_own(
    theirs: Mapping[TopicPartition, CommittedOffset], ours: Mapping[TopicPartition, tuple[int, ...]]
) -> bool:
    """Whether a group has offsets on the target that the copy did not commit."""
    return any(at.offset not in ours.get(partition, ()) for partition, at in theirs.items())


class Groups:
    """Copies the committed offsets of groups whose names match one of `patterns`."""

    def __init__(
        self,
        source: Side,
        target: Side,
        patterns: tuple[str, ...],
        known: Mapping[str, Ours],
        note: Callable[[str, Ours], None],
        *,
        committed: bool = True,
    ) -> None:
        self._source, self._target = source, target
        self._from, self._to = GroupAdmin(source.client), GroupAdmin(target.client)
        self._patterns, self._known, self._note, self._committed = patterns, dict(known), note, committed

    def names(self) -> list[str]:
        """The groups of the source that match, by name."""
        with on(SOURCE):
            return [each.id for each in self._from.groups() if matches(each.id, self._patterns)]

    def sync(self, copies: Mapping[TopicPartition, PartitionCopy]) -> list[GroupReport]:
        """Commit on the target what has changed on the source, for groups that have read what is copied."""
        reports = []
        for group in self.names():
            with on(SOURCE):
                committed = {
                    partition: at
                    for partition, at in self._from.committed(group).items()
                    if partition in copies
                }
            if committed:
                reports.append(self._sync(group, committed, copies))
        return reports

    def _sync(
        self,
        group: str,
        committed: Mapping[TopicPartition, CommittedOffset],
        copies: Mapping[TopicPartition, PartitionCopy],
    ) -> GroupReport:
        with on(SOURCE):
            wanted = {
                partition: translated(self._source.client, copies[partition], at.offset, self._committed)
                for partition, at in committed.items()
            }
        report = GroupReport(group, {each: (committed[each].offset, wanted[each]) for each in wanted})
        ours = self._known.get(group, {})
        with on(TARGET):
            there = self._to.committed(group)
            theirs = {partition: at for partition, at in there.items() if partition in copies}
            if is_its_own(theirs, ours):
                report.left_alone = "it has committed offsets of its own on the target"
                return report
            changed = {
                each: at for each, at in wanted.items() if each not in theirs or theirs[each].offset != at
            }
            if not changed:
                return report
            # Noted first, with what is there: whichever of the two is found next time is the copy's own.
            self._known[group] = ours | {
                each: (theirs[each].offset, at) if each in theirs else (at,) for each, at in changed.items()
            }
            self._note(group, self._known[group])
            try:
                self._commit(group, changed, committed)
            except ProtocolError as error:
                if error.code is not ErrorCode.NON_EMPTY_GROUP:
                    raise
                report.left_alone = "it has members on the target"
        return report

    def _commit(
        self, group: str, offsets: Offsets, committed: Mapping[TopicPartition, CommittedOffset]
    ) -> None:
        by_metadata: dict[str, Offsets] = {}
        for partition, offset in offsets.items():
            by_metadata.setdefault(committed[partition].metadata, {})[partition] = offset
        for metadata, some in by_metadata.items():
            self._to.commit(group, some, metadata)
