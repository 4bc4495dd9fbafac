"""Readers are shown the log: every record they should see, as it was written, and no other.

Checked when a fetch is answered:

* each record is the one that stands at its offset; a batch whose checksum fails is one whose bits
  the weather turned over
* from the place asked for on, no record that is to be read is left out
* nothing is shown beyond the watermark that is told, and the offsets told are in order
* an offset is out of range only if it is
"""

from __future__ import annotations

from typing import Any

from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode
from andiron.records.batch import iterate
from andiron.records.record import records_of
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.mirror import Mirror, Mirrors
from andiron.sim.watcher import Violation, Watcher
from andiron.wire.apis import ApiKey

SHOWN = "readers are shown the log"


class ReadersSeeTheLog(Watcher):
    """Checks what fetches are answered with."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors

    def heard(self, host: Host, exchange: Exchange) -> None:
        if exchange.key == ApiKey.FETCH:
            assert host.node is not None
            table = host.node.broker.replica_manager
            exchange.notes["partitions"] = {name: table.peek(name) for name in exchange.notes["places"]}

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.FETCH:
            return
        names = exchange.notes["names"]
        for topic in exchange.response.responses:
            for data in topic.partitions:
                name = topic.topic or names.get(topic.topic_id), data.partition_index
                partition, place = exchange.notes["partitions"].get(name), exchange.notes["places"].get(name)
                if place is None:
                    raise Violation(SHOWN, f"{name} was not asked for")
                if partition is not None and not partition.retired:
                    self._check(host, partition, place, data, exact=not exchange.was_held)

    def _check(self, host: Host, partition: Partition, place: int, data: Any, *, exact: bool) -> None:
        mirror = self._mirrors.of(host, partition)
        code = ErrorCode.of(data.error_code)
        if code is ErrorCode.OFFSET_OUT_OF_RANGE and exact and partition.log.start <= place <= mirror.end:
            raise Violation(SHOWN, f"{place} is within {partition.name}")
        if code is not ErrorCode.NONE:
            return
        watermark, stable = data.high_watermark, data.last_stable_offset
        if not 0 <= stable <= watermark <= mirror.end or data.log_start_offset > watermark:
            raise Violation(SHOWN, f"{partition.name}: {data.log_start_offset} {stable} {watermark} are told")
        end = self._check_records(mirror, place, bytes(data.records or b""), exact=exact)
        if end > watermark:
            raise Violation(SHOWN, f"{partition.name}: {end} is beyond the watermark {watermark}")
        if mirror.always_durable:
            mirror.keep(end)

    def _check_records(self, mirror: Mirror, place: int, data: bytes, *, exact: bool) -> int:
        """Returns where what is shown ends."""
        end = 0
        for batch in iterate(data):
            if batch.next_offset <= place:
                raise Violation(SHOWN, f"{mirror.name}: {batch} lies before {place}")
            left_out = mirror.first_live(max(place, end), batch.base_offset) if exact else None
            if left_out is not None:
                raise Violation(SHOWN, f"{mirror.name}: {left_out} is left out before {batch}")
            end = batch.next_offset
            if not batch.is_intact():
                if batch.base_offset not in mirror.rotten:
                    raise Violation(SHOWN, f"{mirror.name}: {batch} fails its checksum")
                continue
            offsets = []
            for record in records_of(batch):
                offsets.append(record.offset)
                if mirror.records.get(record.offset) != record:
                    raise Violation(SHOWN, f"{mirror.name}: another record is shown at {record.offset}")
            if exact:
                for offset in range(max(place, batch.base_offset), batch.next_offset):
                    if offset in mirror.live and offset not in offsets:
                        raise Violation(SHOWN, f"{mirror.name}: {offset} is left out of {batch}")
        return end
