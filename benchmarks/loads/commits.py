"""How many offset commits a second? One partition a commit.

Raw: frames built beforehand over 1 or 16 connections, one under way on each, each for a group of its own.
Client: a member of a group commits again and again and waits each time, as librdkafka does it.
"""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from loads import answer, asking, crowd, percentiles
from servers import Raw


def raw(port: int, topic: str, seconds: float, connections: int) -> dict[str, float]:
    requests = [asking.commit(f"commits-{number:03}", topic, [0]) for number in range(connections)]
    with Raw(port) as link:
        for request in requests:
            size = 4 + len(_committed(link, request))
        members = [crowd.connect(port, request) for request in requests]
        times: list[float] = []
        elapsed = crowd.drive(members, size, seconds, times)
        for request in requests:
            _committed(link, request)
    return {"commits": len(times), "seconds": elapsed, **percentiles(times)}


def _committed(link: Raw, request: bytes) -> bytes:
    """Commit, again for as long as the coordinator is loading; all answers are alike."""
    until = time.monotonic() + 30
    while errors := asking.commit_errors(found := link.ask(request)):
        assert time.monotonic() < until, f"the commit was refused: {errors}"
        time.sleep(0.05)
    return found


def client(port: int, topic: str, seconds: float) -> dict[str, float]:
    settings = {"group.id": "commits-client", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{port}", **settings})
    consumer.subscribe([topic])
    while not consumer.assignment():
        consumer.poll(0.1)
    times: list[float] = []
    started = last = time.perf_counter()
    while last - started < seconds:
        consumer.commit(offsets=[TopicPartition(topic, 0, len(times))], asynchronous=False)
        now = time.perf_counter()
        times.append(now - last)
        last = now
    consumer.close()
    return {"commits": len(times), "seconds": last - started, **percentiles(times)}


def load(way: str, **arguments: Any) -> dict[str, float]:
    return raw(**arguments) if way == "raw" else client(**arguments)


if __name__ == "__main__":
    answer(load)
