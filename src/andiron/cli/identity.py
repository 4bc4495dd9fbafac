"""meta.properties: the cluster that a log directory belongs to, written before its node's first start.

    cluster.id     the same on every node: nodes of different clusters do not speak to each other
    node.id        as its settings have it
    directory.id   its own, so that a disk which was exchanged is noticed

A node by itself makes up an id when it first starts. Several nodes cannot each make up one, or each would be a
cluster of its own that waits for the others; so they are given the same, by `andiron up --cluster-id` or by the parent
of a local cluster, and do not start without.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable

from andiron.cli.failure import Failure
from andiron.client.core.cluster_descriptions import parse_uuid, uuid_text
from andiron.edge.disk import DIRECTORY_MODE, PosixDisk, private
from andiron.log.directory import META, Identity, owners


def new_id() -> str:
    """An id of a cluster or a directory; a leading dash would be taken for an option when it is typed."""
    while (text := uuid_text(secrets.token_bytes(16))).startswith("-"):
        pass
    return text


def identity_at(directory: str) -> Identity | None:
    """The meta.properties of a log directory; None if it has none yet."""
    path = os.path.join(directory, META)
    try:
        with open(path, "rb") as file:
            return Identity.decode(file.read(), path)
    except FileNotFoundError:
        return None


def claim(directories: Iterable[str], cluster_id: str, node_id: int) -> None:
    """Write meta.properties into empty log directories; refuse those of another cluster or node, before writing."""
    parse_uuid(cluster_id)
    wanted = list(dict.fromkeys(directories))
    there = dict(zip(wanted, owners(PosixDisk(), wanted), strict=True))
    for directory, owner in there.items():
        if owner is not None and owner.cluster_id != cluster_id:
            raise Failure(f"{directory} belongs to cluster {owner.cluster_id}, not to {cluster_id}")
    for directory in wanted:
        if there[directory] is None:
            os.makedirs(directory, DIRECTORY_MODE, exist_ok=True)
            write_whole(os.path.join(directory, META), Identity(cluster_id, node_id, new_id()).encode())


def check_founded(directories: Iterable[str], command: str) -> None:
    """Refuse to start one node of several that does not know its cluster; `command` is how it was started."""
    wanted = list(directories)
    if not any(identity_at(each) for each in wanted):
        raise Failure(
            f"{wanted[0]} is new, and this node is one of several: say which cluster it is of, with {command} "
            "--cluster-id ID. For a new cluster take an ID from `andiron cluster new-id`, the same one for every node; "
            "`andiron cluster describe` shows that of a cluster that runs"
        )


def write_whole(path: str, data: bytes) -> None:
    """Write a file as a whole or not at all, readable by its owner alone: settings may hold secrets."""
    with open(f"{path}.tmp", "wb", opener=private) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.tmp", path)
