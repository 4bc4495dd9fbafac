"""The two that are compared, each started on a fresh folder: one at a time, never both.

The servers themselves are the ones that the compatibility tests start (tests/peers): Kafka with the options
of its own start script, Andiron by its command line, both with their defaults.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from peers import frames, jars, probe
from peers.kafka import AS_SHIPPED, Kafka
from peers.node import Node
from peers.process import Server
from peers.raw import Closed, Raw

__all__ = ["KINDS", "Closed", "Kafka", "Node", "Raw", "Server", "available", "create_topic"]
__all__ += ["create_topics", "frames", "jars", "probe"]

Kind = Callable[..., Server]
KINDS: Mapping[str, Kind] = {"kafka": partial(Kafka, jvm=AS_SHIPPED), "andiron": Node}


def available(wanted: list[str]) -> list[str]:
    """Those of the wanted that this machine can run; why another cannot is printed."""
    found = []
    for name in wanted:
        try:
            if name == "kafka":
                jars.server_jars()
            found.append(name)
        except jars.Missing as why:
            print(f"without {name}: {why}")
    return found


def create_topic(server: Server, topic: str, /, partitions: int = 1, **configs: str) -> None:
    """Create a topic and wait until its partitions are led."""
    settings = {name.replace("_", "."): value for name, value in configs.items()}
    create_topics(server, {topic: partitions}, settings)
    places = dict.fromkeys(range(partitions), 0)
    with Raw(server.port) as link:
        while any(code for code, _, _ in _fetched(link, topic, places)):
            pass


def create_topics(server: Server, topics: Mapping[str, int], settings: Mapping[str, str]) -> None:
    """Create many at once."""
    with Raw(server.port) as link:
        errors = frames.read_create_topics(link.ask(frames.create_topics(topics, settings)))
    assert not any(errors.values()), errors


def _fetched(link: Raw, topic: str, places: dict[int, int]) -> list[tuple[int, int, bytes]]:
    return list(frames.read_fetch(link.ask(frames.fetch(topic, places, wait_ms=0))).partitions.values())
