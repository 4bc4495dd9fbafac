"""How long until a server answers, fresh and after a crash with a log that was never synced? And its weight?

A start counts from the launch of the process to its first answer to ApiVersions. A recovery counts from the
launch after kill -9 until the last record written before can be fetched.

Kafka spends most of the latter waiting for its own former registration to lapse; what it spends on its logs
is told apart, from what it prints.
"""

from __future__ import annotations

import re
import time

import loads
import usage
from servers import Closed, Raw, Server, create_topic, frames, probe

TOPIC = "recovery"


def start(server: Server) -> float:
    """Launch on what is in the folder; return the seconds to the first answer."""
    began = time.perf_counter()
    server.launch()
    while not probe.answers(server.port, timeout=1.0):
        assert server.running, f"{server.name} ended\n{server.printed()[-2000:]}"
        time.sleep(0.002)
    elapsed = time.perf_counter() - began
    server.wait_until_ready()
    return elapsed


def idle(server: Server, seconds: float) -> tuple[float, float]:
    """Megabytes held, and the share of a core used, while nothing is asked of it."""
    before = usage.cpu_seconds(server.pid)
    time.sleep(seconds)
    return usage.resident_mb(server.pid), (usage.cpu_seconds(server.pid) - before) / seconds


def recover(server: Server, total_mb: int) -> dict[str, float]:
    """Write, kill, launch; seconds until all of it is served again."""
    create_topic(server, TOPIC)
    place = {"port": server.port, "topic": TOPIC, "value_bytes": 1000, "batch_bytes": 16 << 10}
    written = loads.run("stream", way="produce", total_mb=total_mb, **place)
    server.kill()
    printed = len(server.printed())
    began = time.perf_counter()
    server.launch()
    while not _serves(server, int(written["records"])):
        assert server.running, f"{server.name} ended\n{server.printed()[-2000:]}"
        time.sleep(0.005)
    elapsed = time.perf_counter() - began
    loaded = re.search(r"Loaded \d+ logs in (\d+)ms", server.printed()[printed:])
    return {"seconds": elapsed, "logs_seconds": int(loaded[1]) / 1000 if loaded else elapsed}


def _serves(server: Server, records: int) -> bool:
    """Whether the last record can be had."""
    try:
        with Raw(server.port, timeout=5.0) as link:
            answer = frames.read_fetch(link.ask(frames.fetch(TOPIC, {0: records - 1}, wait_ms=0)))
    except (OSError, Closed):
        return False
    code, watermark, found = answer.partitions.get(0, (-1, 0, b""))
    return code == 0 and watermark == records and len(found) > 0
