"""The group coordinator's view of the cluster's topics: names, ids and numbers of partitions.

Groups that assign on the broker must see the same topics as clients do: those of the committed metadata. The
broker hands in a view of them; `version` moves whenever something in it may have changed, so that nobody
compares topics that are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Topic(NamedTuple):
    """A topic as an assignor needs it."""

    name: str
    id: bytes
    partitions: int


class Topics(Protocol):
    """The topics of the cluster."""

    @property
    def version(self) -> int:
        """Another number whenever topics may have come, gone or grown; it only grows."""

    def named(self, name: str) -> Topic | None: ...

    def identified(self, id: bytes) -> Topic | None: ...

    def names(self) -> Iterable[str]:
        """The names of all topics, in a fixed order."""
