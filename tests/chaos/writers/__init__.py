"""Writers, one module a library: each numbers its records by partition, sends them in order, and notes every answer."""

from __future__ import annotations

from importlib import import_module

from chaos.writers.base import Writer

LIBRARIES = {
    "confluent": ("confluent", "ConfluentWriter"),
    "aiokafka": ("aio", "AioWriter"),
    "java": ("java", "JavaWriter"),
}


def make(library: str, name: str, bootstrap: str, topic: str, partitions: int, rate: float) -> Writer:
    """A writer of that library; imported now, since not everybody has them all."""
    module, kind = LIBRARIES[library]
    made: Writer = getattr(import_module(f"chaos.writers.{module}"), kind)(
        name, bootstrap, topic, partitions, rate
    )
    return made
