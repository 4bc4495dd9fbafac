"""What is committed of the metadata is the same on every node, and stays.

The metadata log is read from each node's disk, batch by batch as its watermark moves on, and made into a chain of
hashes: at the same offset it has the same hash on every node, or they have replayed different records. It is synced
before it counts, so there is no excuse: what was committed once is there after any loss of power, on whoever leads.

A log that begins where a snapshot ends, or somewhere before, goes on from the hash that others had there. And what a
node makes of it, its image, is at each offset the same as others had there, be it by records or by a snapshot.
"""

from __future__ import annotations

from hashlib import blake2b

from andiron.controller.image import BrokerImage, Image, PartitionImage
from andiron.log.layout import LOG, file_name
from andiron.model.ids import NodeId, TopicId
from andiron.records.batch import iterate
from andiron.sim.host import Host
from andiron.sim.watcher import End, Violation, Watcher

SAME = "committed metadata is the same everywhere"
KEPT = "who leads the metadata has all of it"
IMAGE = "the same metadata makes the same image"

_Picture = tuple[dict[TopicId, dict[int, PartitionImage]], dict[NodeId, BrokerImage]]


class _Reading:
    """How far one node's log has been read."""

    __slots__ = ("end", "hash", "position", "segment")

    def __init__(self) -> None:
        self.end, self.hash = 0, b""
        self.segment, self.position = -1, 0


class MetadataAgrees(Watcher):
    """Compares the hashes of all that is committed."""

    def __init__(self) -> None:
        self._hashes: dict[int, tuple[bytes, int]] = {}  # by end offset: the hash, and who had it first
        self._end = 0  # of what is committed anywhere
        self._epoch = 0  # the latest in which somebody led
        self._readings: dict[int, _Reading] = {}
        self._images: dict[
            int, tuple[_Picture, int]
        ] = {}  # by what is applied: the image, and who had it first
        self._applied: dict[int, int] = {}

    def went_down(self, host: Host, end: End) -> None:
        self._readings.pop(host.number, None)
        self._applied.pop(host.number, None)

    def stepped(self, host: Host) -> None:
        assert host.node is not None
        partition = host.node.broker.raft.partition
        reading = self._readings.setdefault(host.number, _Reading())
        if partition.leads and partition.epoch > self._epoch:
            self._epoch = partition.epoch
            if partition.log.end < self._end:
                how = f"{host.name}: it ends at {partition.log.end}, committed up to {self._end}"
                raise Violation(KEPT, how)
        if partition.watermark > reading.end:
            self._read(host, reading, partition.watermark)
        metadata = host.node.broker.metadata
        if self._applied.get(host.number) != metadata.applied:
            self._applied[host.number] = metadata.applied
            self._look(host, metadata.applied, metadata.image)

    def _look(self, host: Host, applied: int, image: Image) -> None:
        """The same records make the same image, with or without a snapshot."""
        picture = {topic.id: dict(topic.partitions) for topic in image.topics.values()}, dict(image.brokers)
        known, by = self._images.setdefault(applied, (picture, host.number))
        if known != picture:
            raise Violation(IMAGE, f"at {applied} {host.name} has another than node-{by}")

    def _read(self, host: Host, reading: _Reading, upto: int) -> None:
        assert host.node is not None
        log = host.node.broker.raft.partition.log
        for segment in log.segments:
            if segment.base < reading.segment:
                continue
            if segment.base > reading.segment:
                reading.segment, reading.position = segment.base, 0
                if segment.base > reading.end:
                    reading.end, reading.hash = segment.base, self._hashes[segment.base][0]
            data = host.disk.read_file(f"{log.directory}/{file_name(segment.base, LOG)}")
            for batch in iterate(data, reading.position):
                if batch.next_offset > upto:
                    return
                reading.position = batch.position + batch.size
                body = data[batch.position : reading.position]
                reading.hash = blake2b(reading.hash + body, digest_size=16).digest()
                reading.end = batch.next_offset
                self._compare(host, reading)

    def _compare(self, host: Host, reading: _Reading) -> None:
        known, by = self._hashes.setdefault(reading.end, (reading.hash, host.number))
        if known != reading.hash:
            raise Violation(SAME, f"up to {reading.end} {host.name} has other records than node-{by}")
        self._end = max(self._end, reading.end)
