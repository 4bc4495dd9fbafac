"""Compaction keeps the latest record of each key, at its offset, as it was.

A record may go if there is a later one of its key. A tombstone may go by itself once
delete.retention.ms have passed, and takes with it the right of the key's older records to be there.
Nothing of the active segment goes, as far as that can be told: where a node has several directories a log may have
moved, and has other segments since. What stays is byte for byte what was written. Until when a tombstone stays is
written down by whoever first compacts it, and counts on other nodes as well, whatever their clocks say.

Of transactions: what was aborted goes, and supersedes nothing; what is undecided stays, and supersedes nothing
yet; a marker goes when nothing is left that it decides about. A marker that was not synced may be lost with the power,
after a round has gone by it: what it had decided is then undecided again, and may be gone or have superseded others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from andiron.broker.replicas.partition import Partition
from andiron.records.record import Record
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirror, Mirrors, key_of, scan
from andiron.sim.verdicts import Verdict
from andiron.sim.watcher import End, Violation, Watcher

LATEST = "compaction keeps the latest of each key"
COUNTS = (Verdict.PLAIN, Verdict.COMMITTED)

Shape = tuple[tuple[int, int], ...]  # base and size of each sealed segment


class LatestStays(Watcher):
    """Looks at a compacted log whenever its sealed segments have changed."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors
        self._shapes: dict[Key, Shape] = {}

    def went_down(self, host: Host, end: End) -> None:
        self._shapes = {key: shape for key, shape in self._shapes.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        for partition in host.changed:
            log = partition.log
            if "compact" in log.settings.cleanup_policy:
                shape = tuple((segment.base, segment.size) for segment in log.segments[:-1])
                key = key_of(host, partition)
                known = self._shapes.get(key)
                self._shapes[key] = shape
                if known is not None and known != shape[: len(known)]:
                    self._look(host, partition)

    def _look(self, host: Host, partition: Partition) -> None:
        mirror = self._mirrors.of(host, partition)
        found = {record.offset: record for _, records in scan(host, partition) for record in records or ()}
        for offset, record in found.items():
            if mirror.records.get(offset) != record:
                raise Violation(LATEST, f"{mirror.name}: another record stands at {offset}")
        start = partition.log.start
        gone = [offset for offset in mirror.live if offset >= start and offset not in found]
        check_gone(host, partition, mirror, gone, found)
        for offset in gone:
            del mirror.live[offset]


def check_gone(
    host: Host, partition: Partition, mirror: Mirror, gone: Iterable[int], found: Mapping[int, Record]
) -> None:
    """Was it right that these records went, given those that are still there?"""
    latest_found: dict[bytes | None, int] = {}
    latest_ever: dict[bytes | None, int] = {}
    # A follower that was cut below all that it held has begun anew: what stood there before has no batch. Whether it
    # might be cut that far is another law's to say (growth.py).
    gone = [offset for offset in gone if mirror.epoch_at(offset) is not None]
    for offset in sorted(mirror.records) if gone else ():
        if mirror.epoch_at(offset) is None:
            continue
        key = mirror.records[offset].key
        if mirror.verdict_on(offset) not in COUNTS and mirror.batch_at(offset).base not in mirror.reopened:
            continue
        latest_ever[key] = offset
        if offset in found or mirror.is_rotten(offset):
            latest_found[key] = offset
    for offset in gone:
        key = mirror.records[offset].key
        if mirror.is_rotten(offset) or _was_of_no_use(mirror, offset, found):
            continue
        if not mirror.was_compacted or offset >= _sealed_end(host, partition):
            raise Violation(LATEST, f"{mirror.name}: the record at {offset} is gone")
        if key is None or latest_found.get(key, -1) > offset:
            continue
        if not _is_spent(host, mirror, latest_ever[key]):
            raise Violation(LATEST, f"{mirror.name}: {offset} was the latest of {key!r}, and is gone")


def _sealed_end(host: Host, partition: Partition) -> int:
    """From where on no record can have been compacted."""
    log = partition.log
    return log.segments.active.base if len(host.settings.log_dirs) == 1 else log.end


def _was_of_no_use(mirror: Mirror, offset: int, found: Mapping[int, Record]) -> bool:
    """Whether nobody is to be shown it: a record that was aborted, or a marker with nothing to decide about."""
    verdict = mirror.verdict_on(offset)
    if verdict is Verdict.MARKER:
        decided = mirror.verdicts.decides[mirror.batch_at(offset).base]
        left = [each for base in decided for each in range(base, mirror.batch_at(base).end) if each in found]
        if left:
            raise Violation(LATEST, f"{mirror.name}: the marker at {offset} is gone, not so {left}")
    if mirror.batch_at(offset).base in mirror.reopened:
        return True
    return verdict in (Verdict.MARKER, Verdict.ABORTED)


def _is_spent(host: Host, mirror: Mirror, offset: int) -> bool:
    """Whether the record is a tombstone that has been there for long enough."""
    if mirror.records[offset].value is not None:
        return False
    others = [each.clock.strayed_ms for each in host.world.hosts.values() if each is not host]
    slack_ms = host.clock.strayed_ms + sum(others) if others else 0
    return host.clock.reach - mirror.batch_at(offset).time >= mirror.delete_retention_ms - slack_ms
