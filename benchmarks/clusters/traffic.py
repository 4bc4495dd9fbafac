"""Produce and consume through three replicas: rates, CPU and memory of all nodes; latency at a steady rate."""

from __future__ import annotations

import time
from typing import NamedTuple

import loads
from clusters import nodes
from clusters.part import Part

LATENCIES = ("p50", "p99", "p99.9")
STEADY_PARTITIONS = 3


class Shape(NamedTuple):
    """What is written."""

    value_bytes: int
    partitions: int
    codec: str = "none"

    @property
    def name(self) -> str:
        some = f"{self.partitions} partition{'s' * (self.partitions > 1)}"
        return f"{self.value_bytes} B, {some}{f', {self.codec}' * (self.codec != 'none')}"


SHAPES = [
    Shape(100, 1),
    Shape(100, 12),
    Shape(1000, 1),
    Shape(1000, 12),
    Shape(100, 12, "lz4"),
    Shape(1000, 12, "lz4"),
]


def throughput(part: Part) -> None:
    """Rates, and what they cost; then each topic is read back."""
    weight(part)
    shape = Shape(1000, 12)
    part.asking.create("warm", shape.partitions)
    for way in ("produce", "consume"):
        run(part, "warm", way, shape, part.scale.warm_mb)
    most = 0.0
    for number, shape in enumerate(SHAPES):
        topic = f"shape-{number}"
        part.asking.create(topic, shape.partitions)
        total_mb = part.scale.small_mb if shape.value_bytes < 1000 else part.scale.large_mb
        for way in ("produce", "consume"):
            cell(part, topic, way, shape, total_mb)
        most = max(most, nodes.memory_mb(part.cluster))
    part.add("memory, under load", most, "MB")
    part.add("memory, most resident", nodes.peak_mb(part.cluster), "MB")


def weight(part: Part) -> None:
    """What the cluster holds and uses while nothing is asked of it."""
    part.asking.close()
    before = nodes.cpu_seconds(part.cluster)
    time.sleep(part.scale.idle_s)
    used = nodes.cpu_seconds(part.cluster) - before
    part.add("memory, at rest", nodes.memory_mb(part.cluster), "MB")
    part.add("CPU, at rest", used / part.scale.idle_s * 100, "% of a core")


def cell(part: Part, topic: str, way: str, shape: Shape, total_mb: int) -> None:
    before = nodes.cpu_seconds(part.cluster)
    found = run(part, topic, way, shape, total_mb)
    used = nodes.cpu_seconds(part.cluster) - before
    name = f"{way}, {shape.name}"
    part.add(name, found["mb"] / found["seconds"], "MB/s", "higher")
    part.add(f"{name}: records", found["records"] / found["seconds"], "1/s", "higher")
    part.add(f"{name}: CPU", used / found["records"] * 1e6, "s/M records")


def run(part: Part, topic: str, way: str, shape: Shape, total_mb: int) -> dict[str, float]:
    place = {"bootstrap": nodes.bootstrap(part.cluster), "topic": topic}
    return loads.run("replicated", way=way, total_mb=total_mb, **place, **shape._asdict())


def latency(part: Part) -> None:
    """Until a record is on all replicas; then again in the company of many partitions that nobody writes to."""
    part.asking.create("steady", STEADY_PARTITIONS)
    steady(part, 2000, part.scale.steady_s)
    for rate in (500, 2000):
        report(part, f"acks=all, {rate}/s of 1 KB", rate)
    create_crowd(part)
    weight_of_crowd(part)
    report(part, f"acks=all, 500/s, {part.scale.crowd} idle partitions", 500)


def create_crowd(part: Part) -> None:
    """Many partitions at once: until all are in sync, and whether the controller kept its place meanwhile."""
    before, began = part.asking.controller_epoch(), time.monotonic()
    part.asking.create("crowd", part.scale.crowd)
    part.add(f"{part.scale.crowd} partitions created", time.monotonic() - began, "s")
    elections = part.asking.controller_epoch() - before
    if elections:
        print(f"    the controllers held an election meanwhile: {elections} epochs")


def weight_of_crowd(part: Part) -> None:
    part.asking.close()
    before = nodes.cpu_seconds(part.cluster)
    time.sleep(part.scale.idle_s)
    used = (nodes.cpu_seconds(part.cluster) - before) / part.scale.idle_s
    part.add(f"CPU, at rest, {part.scale.crowd} partitions", used * 100, "% of a core")


def report(part: Part, name: str, rate: int) -> None:
    before = nodes.cpu_seconds(part.cluster)
    found = steady(part, rate, part.scale.steady_s)
    used = nodes.cpu_seconds(part.cluster) - before
    for share in LATENCIES:
        part.add(f"{name}: {share}", found[share] / 1e3, "ms")
    part.add(f"{name}: CPU", used / found["records"] * 1e6, "us")


def steady(part: Part, rate: int, seconds: float) -> dict[str, float]:
    place = {"bootstrap": nodes.bootstrap(part.cluster), "topic": "steady", "partitions": STEADY_PARTITIONS}
    return loads.run("steady", value_bytes=1000, rate=rate, seconds=seconds, **place)
