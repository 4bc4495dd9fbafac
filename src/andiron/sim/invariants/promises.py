"""What was acknowledged with acks=all is committed, and can be read at its offset from whoever leads.

acks=all   committed when it is said: below the watermark of the leader that says it; from then on at its offset on
           every leader, until retention or compaction take it
acks=1     in the log of the leader that said so, and no more than that: with the leader it may be lost
acks=0     nothing

This goes by what producers were told, and not by what nodes think is committed (agreement.py does that).
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.sim.canon import Canon, Canons
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.mirror import Key, Mirror, Mirrors, key_of
from andiron.sim.newest import Newest
from andiron.sim.watcher import End, Violation, Watcher
from andiron.wire.apis import ApiKey

COMMITTED = "acks=all is said of what is committed"
READABLE = "what was acknowledged can be read from every later leader"


class AckedStays(Watcher):
    """Remembers what was acknowledged, and looks whenever somebody begins to lead."""

    def __init__(self, mirrors: Mirrors, canons: Canons, newest: Newest) -> None:
        self._mirrors, self._canons, self._newest = mirrors, canons, newest
        self._leads: dict[Key, int] = {}  # the epoch in which a replica was last seen to lead

    def went_down(self, host: Host, end: End) -> None:
        self._leads = {key: epoch for key, epoch in self._leads.items() if key[0] != host.number}

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.PRODUCE or exchange.body.acks != -1:
            return
        names = {topic.topic_id: topic.name for topic in exchange.body.topic_data}
        bases = {
            (topic.name or names[topic.topic_id], answer.index): answer.base_offset
            for topic in exchange.response.responses
            for answer in topic.partition_responses
            if not answer.error_code
        }
        for sent in exchange.notes["sent"]:
            partition = exchange.notes[sent.number][0] if sent.number in exchange.notes else None
            base = bases.get(sent.partition, -1)
            if partition is None or partition.retired or base < 0:
                continue
            end, canon = base + len(sent.records), self._canons.of(partition)
            if end > max(partition.watermark, canon.end):
                raise Violation(COMMITTED, f"{partition.name}: up to {end}, not {partition.watermark}")
            canon.promised[base] = sent

    def stepped(self, host: Host) -> None:
        for partition in self._newest.concerned(host):
            if partition.leads:
                key = key_of(host, partition)
                if self._leads.get(key) != partition.epoch and self._newest.leads(host, partition):
                    self._leads[key] = partition.epoch
                    self._check(host, partition)

    def rested(self, host: Host) -> None:
        assert host.node is not None
        for partition in host.node.broker.replica_manager:
            if partition.leads:
                self._check(host, partition)

    def _check(self, host: Host, partition: Partition) -> None:
        mirror, canon = self._mirrors.of(host, partition), self._canons.of(partition)
        if mirror.fell is not None:
            return
        for base in canon.promised:
            if base >= partition.log.start:
                _check_one(host, mirror, canon, base)


def _check_one(host: Host, mirror: Mirror, canon: Canon, base: int) -> None:
    for record in canon.promised[base].records:
        stored = mirror.records.get(base + record.offset)
        if stored is None and canon.was_compacted:
            continue
        if stored is None or (stored.key, stored.value, stored.headers) != record[2:]:
            raise Violation(READABLE, f"{mirror.name}: {base + record.offset} is not, from {host.name}")
