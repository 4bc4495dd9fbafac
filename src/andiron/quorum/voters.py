"""The voters of the metadata quorum, and what a majority of them is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from andiron.model.ids import NodeId


class Voters:
    """The nodes that vote, in the order of their numbers. An observer that was only told where to find some of them
    knows none."""

    __slots__ = ("_ids",)

    def __init__(self, ids: Iterable[int]) -> None:
        self._ids = tuple(NodeId(id) for id in sorted(set(ids)))

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, node: object) -> bool:
        return node in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Voters) and self._ids == other._ids

    def __hash__(self) -> int:
        return hash(self._ids)

    def __repr__(self) -> str:
        return f"Voters({list(self._ids)})"

    def is_majority(self, nodes: Iterable[int]) -> bool:
        """Whether these are more than half; who is not a voter does not count."""
        return 2 * len({node for node in nodes if node in self._ids}) > len(self._ids)
