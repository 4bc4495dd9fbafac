"""Readers of committed records are shown what counts, and nothing else; and what they are shown only grows.

* the last stable offset lies before the first record that is undecided, or decided by a marker that is not
  committed yet, and nowhere else; it does not go back. (A snapshot of producers does not say which markers were
  not committed when it was taken, so this holds once what a leader has found is committed; as in Kafka)
* of what is shown below it, what is left after skipping the aborted transactions that the answer names was
  committed, and what is skipped was aborted
"""

from __future__ import annotations

from typing import Any

from andiron.broker.replicas.partition import Partition
from andiron.records.batch import Batch, iterate
from andiron.records.control import end_marker_of
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirror, Mirrors, key_of
from andiron.sim.verdicts import Verdict
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

STABLE = "the last stable offset lies before what is undecided"
BACK = "a last stable offset does not go back"
COMMITTED = "readers of committed records are shown those"
READ_COMMITTED = 1


class ReadersAreIsolated(Watcher):
    """Goes by the verdicts of the mirrors."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors
        self._seen: dict[
            Key, tuple[int, int, int, int]
        ] = {}  # epoch, end, watermark, what followed from them
        self._found: dict[Key, int] = {}  # where logs ended when their node began to lead

    def went_down(self, host: Host, end: End) -> None:
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] != host.number}
        self._found = {key: found for key, found in self._found.items() if key[0] != host.number}

    def stepped(self, host: Host) -> None:
        for partition in host.changed:
            if partition.leads:
                mirror = self._mirrors.of(host, partition)
                if mirror.fell is None:
                    self._check(key_of(host, partition), partition, mirror)

    def _check(self, key: Key, partition: Partition, mirror: Mirror) -> None:
        epoch, end, watermark = partition.epoch, partition.log.end, partition.watermark
        known_epoch, known_end, known_watermark, known = self._seen.get(key, (-1, -1, -1, 0))
        if (epoch, end, watermark) == (known_epoch, known_end, known_watermark):
            return
        if epoch != known_epoch:
            known = 0
            self._found.pop(key, None)
        start = partition.log.start
        stable = max(start, partition.log.last_stable(watermark))
        expected = max(start, _stable(mirror, watermark))
        is_all_known = watermark >= self._found.setdefault(key, end)
        if stable != expected and is_all_known and stable not in mirror.spent:
            raise Violation(STABLE, f"{partition.name}: it is said to be {stable}, and is {expected}")
        if stable < known:
            raise Violation(BACK, f"{partition.name}: {known}, then {stable}")
        self._seen[key] = epoch, end, watermark, stable

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.FETCH or exchange.body.isolation_level != READ_COMMITTED:
            return
        names = exchange.notes["names"]
        for topic in exchange.response.responses:
            for data in topic.partitions:
                name = topic.topic or names.get(topic.topic_id), data.partition_index
                partition = exchange.notes["partitions"].get(name)
                if data.error_code == 0 and partition is not None and not partition.retired:
                    _check_shown(self._mirrors.of(host, partition), data)


def _stable(mirror: Mirror, watermark: int) -> int:
    """Where what a reader of committed records may see ends."""
    places = [watermark]
    first = mirror.verdicts.first_open()
    if first is not None:
        places.append(first)
    for marker in reversed(mirror.verdicts.decides):
        if marker < watermark:
            break
        places += mirror.verdicts.decides[marker][:1]
    return min(places)


def _check_shown(mirror: Mirror, data: Any) -> None:
    aborted = sorted(
        ((each.first_offset, each.producer_id) for each in data.aborted_transactions or ()), reverse=True
    )
    skipped: dict[int, None] = {}
    for batch in iterate(bytes(data.records or b"")):
        while aborted and aborted[-1][0] <= batch.last_offset:
            skipped[aborted.pop()[1]] = None
        if batch.base_offset >= data.last_stable_offset:
            raise Violation(COMMITTED, f"{mirror.name}: {batch} lies beyond {data.last_stable_offset}")
        if not batch.is_intact():
            continue
        if batch.is_control:
            marker = end_marker_of(batch) if batch.count else None
            if marker is not None and not marker.committed:
                skipped.pop(batch.producer_id, None)
        elif batch.is_transactional:
            _check_batch(mirror, batch, is_skipped=batch.producer_id in skipped)


def _check_batch(mirror: Mirror, batch: Batch, *, is_skipped: bool) -> None:
    verdict = mirror.verdict_on(batch.base_offset)
    if verdict is not (Verdict.ABORTED if is_skipped else Verdict.COMMITTED):
        how = "skipped" if is_skipped else "shown"
        raise Violation(COMMITTED, f"{mirror.name}: {batch} is {how}, and {verdict.value}")
