"""Lookups agree with a scan: by offset through the indexes, by time, by leader epoch.

Answers of ListOffsets and OffsetForLeaderEpoch are compared with what going through all records gives.
At rest every offset of every log is looked up in the node's own way and must lead to
the batch that holds it, or to the next one where compaction has left a gap.
"""

from __future__ import annotations

from typing import Any

from andiron.broker.replicas.partition import Partition
from andiron.model.effects import Received
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Offset
from andiron.records.batch import Batch
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.mirror import Mirror, Mirrors, scan
from andiron.sim.watcher import Violation, Watcher
from andiron.wire.apis import ApiKey

AGREE = "lookups agree with a scan"
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
READ_COMMITTED = 1
ISOLATED_SINCE = 2  # the version of ListOffsets


class LookupsAgree(Watcher):
    """Looks things up the slow way."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key not in (ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FOR_LEADER_EPOCH):
            return
        if exchange.was_held or host.event is not Received:
            return  # looked up in an earlier step, in a slice of the request: it tells of that moment
        by_time = exchange.key == ApiKey.LIST_OFFSETS
        for asked, answered in zip(exchange.body.topics, exchange.response.topics, strict=True):
            for wanted, found in zip(asked.partitions, answered.partitions, strict=True):
                if found.error_code == ErrorCode.NONE.number:
                    committed = by_time and _reads_committed(exchange)
                    name = asked.name if by_time else asked.topic
                    self._check(host, name, wanted, found, by_time=by_time, committed=committed)

    def rested(self, host: Host) -> None:
        assert host.node is not None
        for partition in host.node.broker.replica_manager:
            batches = [batch for batch, _ in scan(host, partition) if batch.next_offset > partition.log.start]
            # From the end on: a read leaves a mark where the next one would go on, and that would be found.
            for offset in range(partition.log.end - 1, partition.log.start - 1, -1):
                while len(batches) > 1 and batches[-2].last_offset >= offset:
                    batches.pop()
                if batches and batches[-1].last_offset >= offset:
                    _check_read(partition, offset, batches[-1])

    def _check(
        self, host: Host, topic: str, wanted: Any, found: Any, *, by_time: bool, committed: bool
    ) -> None:
        assert host.node is not None
        index = wanted.partition_index if by_time else wanted.partition
        partition = host.node.broker.replica_manager.peek((topic, index))
        if partition is None:
            return
        mirror = self._mirrors.of(host, partition)
        if mirror.rotten or (mirror.start_fell and not by_time):
            return
        told, expected = (
            (found.offset, _place_of(partition, mirror, wanted.timestamp, committed=committed))
            if by_time
            else (found.end_offset, _end_of(mirror, partition, wanted.leader_epoch))
        )
        if told != expected and not _is_the_same(mirror, told, expected):
            what = wanted.timestamp if by_time else f"epoch {wanted.leader_epoch}"
            raise Violation(AGREE, f"{partition.name}: {what} is said to be at {told}, and is at {expected}")


def _reads_committed(exchange: Exchange) -> bool:
    return exchange.version >= ISOLATED_SINCE and exchange.body.isolation_level == READ_COMMITTED


def _place_of(partition: Partition, mirror: Mirror, timestamp: int, *, committed: bool) -> int:
    readable_end = partition.readable_end(committed)
    if timestamp == LATEST:
        return readable_end
    if timestamp == EARLIEST:
        return partition.log.start
    readable = [
        (mirror.records[offset].timestamp, offset)
        for offset in mirror.live
        if partition.log.start <= offset < readable_end
    ]
    if timestamp == MAX_TIMESTAMP:
        latest = max((time for time, _ in readable), default=-1)
        if any(mirror.records[offset].timestamp > latest for offset in mirror.live if offset >= readable_end):
            return -1  # the latest of all cannot be shown yet
        return min((offset for time, offset in readable if time == latest), default=-1)
    return min((offset for time, offset in readable if time >= timestamp), default=-1)


def _end_of(mirror: Mirror, partition: Partition, epoch: int) -> int:
    """Where an epoch ended: where the next one began, or at the end of the log; -1 if it is not known."""
    if epoch == partition.epoch:
        return partition.log.end
    begins: dict[int, int] = {}
    for stored in mirror.batches:
        begins.setdefault(stored.leader_epoch, stored.base)
    passed = [known for known, at in begins.items() if at <= partition.log.start]
    begins = {known: at for known, at in begins.items() if not passed or known >= passed[-1]}
    if partition.leads and max(begins, default=-1) < epoch < partition.epoch:
        return partition.log.end  # where its leader's own has begun, in which nothing is written yet
    if not begins or epoch > max(begins):
        return -1
    later = [at for known, at in begins.items() if known > epoch]
    return max(partition.log.start, later[0]) if later else partition.log.end


def _is_the_same(mirror: Mirror, told: int, expected: int) -> bool:
    """Whether two places differ only by records that are gone; with all records, what is known of them goes."""
    low, high = sorted((told, expected))
    if low < 0:
        return told < 0 and mirror.first_live(mirror.start, mirror.end) is None
    return mirror.was_compacted and mirror.first_live(low, high) is None


def _check_read(partition: Partition, offset: int, expected: Batch) -> None:
    try:
        slice = partition.log.read(Offset(offset), 1, partition.log.end)
    except ProtocolError as error:
        raise Violation(AGREE, f"{partition.name}: {offset} leads to {error}") from error
    found = None if slice is None else Batch(slice.read())
    if found is None or found.base_offset != expected.base_offset:
        raise Violation(AGREE, f"{partition.name}: {offset} leads to {found}, and is in {expected}")
