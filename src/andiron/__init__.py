"""Andiron: Kafka's log, written in Python and made for Spark."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from andiron.client.tables import read_topic

__all__ = ["__version__", "read_topic"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`read_topic`, when it is first asked for: it needs pyarrow, which nothing else here does."""
    if name != "read_topic":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module("andiron.client.tables").read_topic
    except ModuleNotFoundError as missing:
        if missing.name not in ("numpy", "pyarrow"):
            raise
        needed = f"andiron.read_topic needs {missing.name}: pip install 'andiron[arrow]'"
    raise ImportError(needed, name="pyarrow")
