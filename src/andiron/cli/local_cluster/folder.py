"""The folder of a local cluster: what is in it already, and what is written there before the nodes start.

    DATA/node-1/server.properties     written anew at every start; keeps the voters and their ports
    DATA/node-1/andiron.log           what the node printed, of all its starts
    DATA/node-1/data/                 its log directory, with a meta.properties from before its first start
    DATA/node-2/ …

Every node must be of one cluster, so the id is chosen here and written into each log directory before its node
has seen it; a node takes the id that it finds there.

The laws: nothing is written into a folder that is anything else, such as the data of a node by itself; and voters
that have lost their metadata are not started where they would outvote one that has it.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping

from andiron.broker.metadata.raft_requests import METADATA
from andiron.broker.settings.property_file import parse_properties
from andiron.cli.failure import Failure
from andiron.cli.identity import claim, identity_at, new_id, write_whole
from andiron.cli.local_cluster.layout import PROPERTIES, Layout, LocalNode, parse_voter_ports, render
from andiron.log.directory import META

_NODE = re.compile(r"node-([1-9])")
LOG = "andiron.log"
DATA = "data"
OF_A_NODE = (PROPERTIES, LOG, DATA)
VOTERS = "controller.quorum.voters"


class ClusterFolder:
    """The folder given by --data."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def properties_of(self, node: LocalNode) -> str:
        return os.path.join(self.path, node.name, PROPERTIES)

    def log_of(self, node: LocalNode) -> str:
        return os.path.join(self.path, node.name, LOG)

    def data_of(self, node: LocalNode) -> str:
        return os.path.join(self.path, node.name, DATA)

    def check(self, count: int) -> None:
        """Refuse a folder that is not a cluster's, or is one of more nodes than are to be started."""
        names = sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []
        if META in names:
            raise Failure(
                f"{self.path} has the records of a node by itself, which stay as they are; "
                "give the cluster a folder of its own with --data"
            )
        strange = [each for each in names if not _NODE.fullmatch(each) and not each.startswith(".")]
        for node in self.nodes():
            within = sorted(os.listdir(os.path.join(self.path, f"node-{node}")))
            strange += [
                f"node-{node}/{each}" for each in within if each.removesuffix(".tmp") not in OF_A_NODE
            ]
        if strange:
            raise Failure(f"{self.path} has {strange[0]} in it, which is no node's; choose another --data")
        if left_out := [each for each in self.nodes() if each > count]:
            raise Failure(
                f"{self.path} has {len(self.nodes())} nodes and --brokers says {count}: say --brokers "
                f"{max(left_out)}, or take node {max(left_out)} out with `andiron cluster drain` and remove its folder"
            )

    def nodes(self) -> list[int]:
        """The ids of the nodes that have a folder."""
        names = os.listdir(self.path) if os.path.isdir(self.path) else []
        return sorted(int(match[1]) for match in map(_NODE.fullmatch, names) if match)

    def voters(self) -> dict[int, int]:
        """The voters and their ports, as they were chosen when the cluster was made; none if it is new."""
        for id in self.nodes():
            text = _read(os.path.join(self.path, f"node-{id}", PROPERTIES))
            if text is not None and (voters := parse_properties(text).get(VOTERS)):
                return parse_voter_ports(voters)
        return {}

    def cluster_id(self) -> str | None:
        """The id that the nodes have; None if the cluster is new."""
        found: dict[str, str] = {}
        for id in self.nodes():
            data = os.path.join(self.path, f"node-{id}", DATA)
            if (owner := identity_at(data)) is not None:
                found.setdefault(owner.cluster_id, data)
        if len(found) > 1:
            raise Failure(
                f"{' and '.join(found.values())} are of different clusters; remove the one that is wrong"
            )
        return next(iter(found), None)

    def write(self, layout: Layout, chosen: Mapping[str, str]) -> str:
        """Make every node's folder ready for its start; returns the cluster's id."""
        self._check_metadata(list(layout.voters))
        cluster_id = self.cluster_id() or new_id()
        for node in layout.nodes:
            data = self.data_of(node)
            claim([data], cluster_id, node.id)
            properties = layout.properties(node, data, chosen)
            write_whole(self.properties_of(node), render(properties).encode())
        return cluster_id

    def _check_metadata(self, voters: list[int]) -> None:
        """A majority of voters that know nothing would elect one that knows nothing, and all topics would be gone."""
        lost = [id for id in voters if not os.path.isdir(self._metadata_of(id))]
        kept = [id for id in voters if id not in lost]
        if kept and 2 * len(lost) > len(voters):
            raise Failure(
                f"nodes {' and '.join(map(str, lost))} have lost their metadata, and would outvote node {kept[0]}, "
                f"which has it: copy {self._metadata_of(kept[0])} to the same place of the others first"
            )

    def _metadata_of(self, id: int) -> str:
        return os.path.join(self.path, f"node-{id}", DATA, str(METADATA))


def is_free(port: int, host: str = "localhost") -> bool:
    """Whether nobody listens on a port of this machine; an empty `host` is every address."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError:
            return False
    return True


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None
