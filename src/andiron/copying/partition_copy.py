"""The copy of one partition: the source offset that is read next, the target's end, and the offset map.

It begins in one of three ways, each told by the two logs and by what was noted:

    nothing noted        the target is empty: at the source's first offset, kept if the target's can be brought there
    noted, and short     the empty records before the first offset are not all there: go on with those
    noted                the target's end says how far the copy is; the map, which offset of the source that is
"""

from __future__ import annotations

from dataclasses import dataclass, field

from andiron.copying.chunks import Chunk
from andiron.copying.errors import CopyError
from andiron.copying.offset_map import OffsetMap, Stretch
from andiron.copying.state import Target
from andiron.model.ids import TopicPartition


@dataclass
class PartitionCopy:
    """A partition's copy; offsets of the source and of the target are of what comes next."""

    partition: TopicPartition
    topic: Target
    map: OffsetMap
    source: int
    target: int
    lead_in: int = 0  # empty records that must be written before the first one
    batch_bytes: int = 0
    fresh: list[Stretch] = field(default_factory=list)  # to be noted before what was placed is sent
    records: int = 0  # by this process
    bytes: int = 0

    def place(self, chunk: Chunk) -> None:
        """Place a batch at the target's end: its offset there, and a new stretch of the offset map if they shift."""
        stretch = self.map.place(chunk.source, chunk.source_end, self.target, chunk.records)
        if stretch is not None:
            self.fresh.append(stretch)
        self.target += chunk.records
        self.records += chunk.records
        self.bytes += len(chunk.data)

    def take_fresh(self) -> list[Stretch]:
        """The stretches that must be written to the state topic before the placed batches are sent."""
        fresh, self.fresh = self.fresh, []
        return fresh


def begun(
    partition: TopicPartition,
    topic: Target,
    source_start: int,
    target: tuple[int, int],
    *,
    deletes: bool,
    keep: bool,
) -> PartitionCopy:
    """A copy that begins; `target` is where that partition starts and ends. Its first stretch is to be noted."""
    start, end = target
    if start != end:
        raise CopyError(
            f"{partition} has records on the target that no copy has written; delete the topic there"
        )
    kept = source_start == end or (keep and deletes and source_start > end)
    first = Stretch(source_start, source_start if kept else end)
    lead_in = first.target - end
    return PartitionCopy(partition, topic, OffsetMap([first]), source_start, end, lead_in, fresh=[first])


def resumed(partition: TopicPartition, topic: Target, known: OffsetMap, target_end: int) -> PartitionCopy:
    """A copy that goes on, from a map that was cut at the target's end."""
    lead_in = max(0, known.first.target - target_end)
    return PartitionCopy(partition, topic, known, known.resume_at(target_end), target_end, lead_in)
