"""A node without sockets around which a survey can be made, and its metrics by name and labels."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from andiron.edge.carrier import Carrier
from andiron.edge.connections import Connections
from andiron.edge.metrics.catalog import scraper
from andiron.edge.metrics.meter import Meter
from andiron.edge.room import Room

LINE = re.compile(r"^(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")


def host_of(node: Any, now: int) -> Any:
    """As much of a host as is looked at."""
    host = SimpleNamespace(
        meter=Meter(),
        carrier=Carrier(),
        processors=SimpleNamespace(sendfile_bytes=0, connections=0, count=0, idle_share=lambda: 1.0),
        failures=0,
        stood_still_s=0.0,
        room=Room(lambda: -1),
        now=now,
        settings=SimpleNamespace(connections_max_idle_ms=-1, max_connections=9),
    )
    host.connections = Connections(host)
    return host


def scraped(world: Any, host: Any = None) -> dict[str, float]:
    """The metrics of a small node: name{labels} → value."""
    pieces = scraper(host or host_of(world.node, world.now), world.node)()
    return parsed(b"".join(pieces).decode())


def parsed(text: str) -> dict[str, float]:
    """Samples by what stands before the value."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            key, _, value = line.rpartition(" ")
            assert LINE.match(line), line
            assert key not in found, f"{key} is there twice"
            found[key] = float(value)
    return found
