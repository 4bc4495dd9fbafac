"""Replicas agree on what is committed, and a leader has all of it.

    node-1  leads, epoch 4   ████████████████│▒▒▒▒        watermark ──▶ canon.py
    node-2  follows          ██████████████│▒▒            up to its own watermark the same records
    node-2  leads, epoch 5   must have all that epoch 4 committed, record by record

Looked at as it grows: a leader's watermark that moves on adds to what is committed; a replica's log is compared with
that up to its own watermark, each offset once; all of it is compared when a node begins to lead.

A leader whose epoch is over, and who has not heard of it, need not have anything; what it still commits with those who
follow it has to be on the next leader all the same.

Compaction takes records away on each replica in its own time, so where one has nothing it is not compared; that it
keeps the latest of each key is seen elsewhere (compaction.py).
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.sim.canon import Canon, Canons
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirror, Mirrors, key_of
from andiron.sim.newest import Newest
from andiron.sim.watcher import End, Violation, Watcher

AGREE = "replicas agree on what is committed"
KEPT = "a leader has all that is committed"
KNOWN = "what a follower takes for committed is"


class ReplicasAgree(Watcher):
    """Compares each replica with what is committed."""

    def __init__(self, mirrors: Mirrors, canons: Canons, newest: Newest) -> None:
        self._mirrors, self._canons, self._newest = mirrors, canons, newest
        self._seen: dict[Key, tuple[int, int, int, bool]] = {}  # watermark, end, epoch, whether it leads
        self._checked: dict[Key, int] = {}

    def went_down(self, host: Host, end: End) -> None:
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        for partition in self._newest.concerned(host):
            key, log = key_of(host, partition), partition.log
            now = partition.watermark, log.end, partition.epoch, self._newest.leads(host, partition)
            seen = self._seen.get(key)
            if seen == now:
                continue
            mirror = self._mirrors.of(host, partition)
            if mirror.fell is None and partition.failure is None:
                self._seen[key] = now
                began = now[3] and (seen is None or seen[2:] != now[2:])
                self._look(key, partition, mirror, is_open=host.is_open, began=began)

    def _look(self, key: Key, partition: Partition, mirror: Mirror, *, is_open: bool, began: bool) -> None:
        canon, watermark = self._canons.of(partition), partition.watermark
        canon.was_compacted = canon.was_compacted or mirror.was_compacted
        if began:
            self._check_leader(key, partition, mirror, canon)
        if partition.leads and is_open:
            canon.start = max(canon.start, partition.log.start)
            if watermark > canon.end:
                canon.commit(mirror, watermark)
        elif not partition.leads and watermark > max(canon.end, canon.start) and not canon.cuts:
            raise Violation(
                KNOWN, f"{_told(key, partition)}: {watermark}, where {canon.end} is the end of it"
            )
        stop = min(watermark, canon.end)
        apart = canon.parts_from(mirror, min(self._checked.get(key, 0), mirror.end, stop), stop)
        if apart is None:
            self._checked[key] = stop
        elif not canon.is_excused and not canon.is_lost(mirror, apart):
            raise Violation(AGREE, f"{_told(key, partition)}: another record stands at {apart}")

    def _check_leader(self, key: Key, partition: Partition, mirror: Mirror, canon: Canon) -> None:
        log = partition.log
        lost: list[int] = [log.end] if log.end < canon.end else []
        apart = canon.parts_from(mirror, log.start, min(log.end, canon.end))
        missing = None if canon.was_compacted else canon.misses(mirror, log.start)
        lost += [offset for offset in (apart, missing) if offset is not None]
        if not lost:
            return
        if not canon.is_excused:
            how = f"{_told(key, partition)} in epoch {partition.epoch}: not so from {min(lost)} on, of {canon.end}"
            raise Violation(KEPT, how)
        canon.cut(min(lost), partition.epoch)
        for other in self._checked:
            if other[1:] == key[1:]:
                self._checked[other] = min(self._checked[other], canon.end)


def _told(key: Key, partition: Partition) -> str:
    return f"{partition.name} on node-{key[0]}"
