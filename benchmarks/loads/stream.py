"""How many bytes can one connection push into a broker, and draw out of it again?

Produce: one prebuilt batch again and again, with some megabytes unanswered. Consume: fetches of 1 MB from the
front, one at a time, into one buffer. Nothing is built, compressed or checked on this side.
"""

from __future__ import annotations

import time

from loads import answer
from peers import frames
from peers.raw import Raw

MB = 1 << 20
WINDOW = 8 * MB


def batch_of(value_bytes: int, batch_bytes: int) -> tuple[bytes, int]:
    """A batch of about that size, and how many records are in it."""
    count = max(1, batch_bytes // (value_bytes + 8))
    return frames.batch([bytes(value_bytes)] * count, timestamp=int(time.time() * 1000)), count


def produce(port: int, topic: str, value_bytes: int, batch_bytes: int, total_mb: int) -> dict[str, float]:
    batch, records = batch_of(value_bytes, batch_bytes)
    # Several frames a send: the cost of a system call on this side should not bound the broker.
    burst = max(1, min(32, WINDOW // len(batch) // 2))
    bursts = max(2, total_mb * MB // (len(batch) * burst))
    piece = frames.produce(topic, {0: batch}) * burst
    with Raw(port) as link:
        started = time.perf_counter()
        link.send(piece)
        for turn in range(bursts):
            if turn < bursts - 1:
                link.send(piece)
            for _ in range(burst):
                last = link.receive()
        elapsed = time.perf_counter() - started
    assert frames.read_produce(last)[0][0] == 0
    count = bursts * burst
    return {"mb": count * len(batch) / MB, "seconds": elapsed, "records": count * records}


def consume(port: int, topic: str, value_bytes: int, batch_bytes: int, total_mb: int) -> dict[str, float]:
    batch, records = batch_of(value_bytes, batch_bytes)
    offset = moved = 0
    buffer = bytearray(4 * MB)
    with Raw(port) as link:
        started = time.perf_counter()
        while moved < total_mb * MB:
            link.send(frames.fetch(topic, {0: offset}, partition_bytes=MB))
            found = frames.read_fetch(link.receive_into(buffer))
            size = len(found.partitions[0][2]) // len(batch) * len(batch)
            if not size:
                break
            moved += size
            offset += size // len(batch) * records
        elapsed = time.perf_counter() - started
    return {"mb": moved / MB, "seconds": elapsed, "records": offset}


def load(way: str, **arguments: int | str) -> dict[str, float]:
    return {"produce": produce, "consume": consume}[way](**arguments)  # type: ignore[arg-type]


if __name__ == "__main__":
    answer(load)
