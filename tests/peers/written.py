"""Data folders worth reading: a server fills one with everything a log can hold, and stops.

The same hands fill an Andiron node's folder for Kafka's tools to read, and Kafka's folder for ours to open.
What was written is returned beside it, so that a reader can be held to every record.

    many      several segments, every codec, headers, nulls, tombstones, idempotent producers
    compact   few keys many times over, and tombstones
    cut       records deleted from the front
    timeless  several segments of records that have no timestamp
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from peers import clients, frames
from peers.clients.base import CODECS, Record
from peers.datasets import assorted
from peers.process import Server
from peers.raw import Raw
from peers.waiting import eventually

SEGMENT_BYTES = 1 << 20  # the least that Kafka allows


@dataclass(frozen=True)
class Written:
    """A stopped server's data folder and what its logs hold: topic → records of partition 0 in order."""

    data: Path
    records: dict[str, list[Record]]

    def partition(self, topic: str, number: int = 0) -> Path:
        return self.data / f"{topic}-{number}"


def fill(server: Server) -> Written:
    """Write to a running server and stop it in good order."""
    client = clients.connect("confluent", server.bootstrap)
    records = {"many": _many(client), "compact": _compact(client), "cut": _cut(client)}
    records["timeless"] = _timeless(client, server.port)
    server.stop()
    return Written(server.data, records)


def _many(client: clients.Client) -> list[Record]:
    client.create_topic("many", 2, 1, {"segment.bytes": str(SEGMENT_BYTES), "retention.ms": "-1"})
    written: list[Record] = []
    for seed, codec in enumerate(CODECS):
        records = assorted(3000, seed, large=1)
        client.write("many", records[:2000], codec=codec, idempotent=True)
        client.write("many", records[2000:], codec=codec, idempotent=False)
        written += records
    client.write("many", written[:10], partition=1)
    return written


def _compact(client: clients.Client) -> list[Record]:
    client.create_topic("compact", 1, 1, {"cleanup.policy": "compact", "segment.bytes": str(SEGMENT_BYTES)})
    records = [
        Record(b"key %d" % (number % 50), None if number % 17 == 0 else b"value %d" % number)
        for number in range(2000)
    ]
    client.write("compact", records, codec="zstd")
    return records


def _cut(client: clients.Client) -> list[Record]:
    client.create_topic("cut", 1, 1)
    records = [Record(None, b"value %d" % number) for number in range(100)]
    client.write("cut", records)
    client.delete_records("cut", 0, 40)
    return records


def _timeless(client: clients.Client, port: int) -> list[Record]:
    client.create_topic("timeless", 1, 1, {"segment.bytes": str(SEGMENT_BYTES), "retention.ms": "-1"})
    values = [b"%d" % number * 1000 for number in range(1000)]
    with Raw(port) as link:

        def is_written(packed: bytes) -> bool:
            return frames.read_produce(link.ask(frames.produce("timeless", {0: packed})))[0][0] == 0

        for at in range(0, len(values), 10):
            packed = frames.batch(values[at : at + 10], timestamp=-1)
            eventually(lambda packed=packed: is_written(packed))  # the topic is new
    return [Record(None, value) for value in values]
