"""The voters that a record of the log names: who they are, where they are reached, on which disk they keep their votes.

    VotersRecord  1 · directory · CONTROLLER://host-1:9093      ─▶ VoterSet ─▶ VoterIds (1, 2, 3): what a majority is
                  2 · …

A voter is a node and a directory: one that comes back with an empty disk has forgotten its votes, and is not the voter
it was. Where the voters are those of the settings, nobody has said where their votes lie, and the directory is NOWHERE.

Sets differ from one to the next by one voter (KIP-853), so that any majority of the one has a node in common with any
majority of the other.

Read next: voter_set_history.py, for which of them holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from andiron.model.ids import Address, NodeId
from andiron.quorum.records import Endpoint, KRaftVersionFeature, Voter, VotersRecord

NOWHERE = bytes(16)
KRAFT_VERSION = 1  # since which voters can change


class VoterIds:
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
        return isinstance(other, VoterIds) and self._ids == other._ids

    def __hash__(self) -> int:
        return hash(self._ids)

    def __repr__(self) -> str:
        return f"VoterIds({list(self._ids)})"

    def is_majority(self, nodes: Iterable[int]) -> bool:
        """Whether these are more than half; who is not a voter does not count."""
        return 2 * len({node for node in nodes if node in self._ids}) > len(self._ids)


class VoterNode(NamedTuple):
    """One voter: its directory, and its controller's listeners by name."""

    id: NodeId
    directory: bytes = NOWHERE
    endpoints: tuple[tuple[str, Address], ...] = ()

    @property
    def address(self) -> Address | None:
        """Where it is reached."""
        return self.endpoints[0][1] if self.endpoints else None

    def is_called(self, id: int, directory: bytes) -> bool:
        """Whether it is this node, with this directory."""
        return self.id == id and self.directory in (directory, NOWHERE)


class VoterSet:
    """VoterIds, in the order of their numbers. It does not change; a change makes another."""

    __slots__ = ("_nodes", "ids")

    def __init__(self, nodes: Iterable[VoterNode] = ()) -> None:
        self._nodes = {node.id: node for node in sorted(nodes)}
        self.ids = VoterIds(self._nodes)

    @classmethod
    def of(cls, record: VotersRecord) -> VoterSet:
        """The voters that a record names."""
        return cls(
            VoterNode(
                NodeId(voter.voter_id),
                bytes(voter.voter_directory_id),
                tuple((each.name, Address(each.host, each.port)) for each in voter.endpoints),
            )
            for voter in record.voters
        )

    def record(self) -> VotersRecord:
        """The record that names them."""
        return VotersRecord(0, [_named(node) for node in self])

    def __iter__(self) -> Iterator[VoterNode]:
        return iter(self._nodes.values())

    def __len__(self) -> int:
        return len(self._nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._nodes == other._nodes

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"VoterSet({list(self)})"

    def get(self, id: int) -> VoterNode | None:
        return self._nodes.get(NodeId(id))

    def with_voter(self, voter: VoterNode) -> VoterSet:
        """The voter set with one voter more, or with other endpoints of one that it has."""
        return VoterSet({**self._nodes, voter.id: voter}.values())

    def without(self, id: int) -> VoterSet:
        """The voter set without one of its voters."""
        return VoterSet(node for node in self if node.id != id)


def _named(node: VoterNode) -> Voter:
    endpoints = [Endpoint(name, *address) for name, address in node.endpoints]
    return Voter(node.id, node.directory, endpoints, KRaftVersionFeature(0, KRAFT_VERSION))
