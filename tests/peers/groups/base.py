"""What is asked of every client about groups; an adapter overrides what its library offers.

Errors are told as everywhere: `Refused` carries Kafka's number for what went wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Committed:
    """A committed offset; the leader epoch is None where none was committed or the library does not tell it."""

    offset: int
    metadata: str = ""
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A group in a list: its state and type in Kafka's words."""

    state: str
    type: str


@dataclass(frozen=True, slots=True)
class Described:
    """A group by itself: its state, its assignor, and the partitions of each member."""

    state: str
    assignor: str
    members: tuple[frozenset[Place], ...]


class Groups:
    """One library; every method is optional."""

    tells_epochs = True  # whether it can commit and fetch leader epochs
    tells_metadata = True  # and metadata

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def told(self, offsets: Mapping[Place, Committed]) -> dict[Place, Committed]:
        """The same offsets as far as this library can tell of them."""
        return {
            place: Committed(
                at.offset, at.metadata if self.tells_metadata else "", at.epoch if self.tells_epochs else None
            )
            for place, at in offsets.items()
        }

    def commit(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        """As a consumer which is no member."""
        raise NotImplementedError

    def committed(self, group: str, places: Collection[Place]) -> dict[Place, Committed]:
        """As a consumer asks; what was not committed is not in the answer."""
        raise NotImplementedError

    def list_offsets(self, group: str) -> dict[Place, Committed]:
        """All that the group has, as an administrator asks."""
        raise NotImplementedError

    def alter_offsets(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        raise NotImplementedError

    def delete_offsets(self, group: str, places: Collection[Place]) -> None:
        raise NotImplementedError

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> dict[str, Listed]:
        raise NotImplementedError

    def describe_group(self, group: str) -> Described:
        raise NotImplementedError

    def delete_group(self, group: str) -> None:
        raise NotImplementedError
