"""What is found in the folder of a cluster, and what is written there."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from andiron.cli.failure import Failure
from andiron.cli.identity import new_id
from andiron.cli.local_cluster.folder import ClusterFolder, is_free
from andiron.cli.local_cluster.layout import Layout, lay_out
from andiron.log.directory import Identity


def cluster(path: Path, count: int = 3) -> tuple[ClusterFolder, Layout, str]:
    folder = ClusterFolder(str(path))
    folder.check(count)
    layout = lay_out(count, 9092, folder.voters(), lambda port: True)
    return folder, layout, folder.write(layout, {})


def identity(path: Path, node: int) -> Identity:
    return Identity.decode((path / f"node-{node}/data/meta.properties").read_bytes(), "")


def test_every_node_is_of_one_cluster(tmp_path: Path) -> None:
    _, _, cluster_id = cluster(tmp_path / "new")
    found = [identity(tmp_path / "new", node) for node in (1, 2, 3)]

    assert [(each.cluster_id, each.node_id) for each in found] == [
        (cluster_id, 1),
        (cluster_id, 2),
        (cluster_id, 3),
    ]
    assert len({each.directory_id for each in found}) == 3


def test_the_next_start_finds_it_all_as_it_was(tmp_path: Path) -> None:
    _, first, cluster_id = cluster(tmp_path)
    before = identity(tmp_path, 2)
    folder = ClusterFolder(str(tmp_path))

    assert folder.voters() == first.voters
    assert folder.cluster_id() == cluster_id
    assert cluster(tmp_path)[2] == cluster_id
    assert identity(tmp_path, 2) == before


def test_a_node_more_joins_the_cluster(tmp_path: Path) -> None:
    cluster_id = cluster(tmp_path, 3)[2]
    _, layout, again = cluster(tmp_path, 4)

    assert again == cluster_id == identity(tmp_path, 4).cluster_id
    assert layout.nodes[3].controller_port is None


def test_a_node_whose_folder_is_gone_gets_a_new_one(tmp_path: Path) -> None:
    cluster_id = cluster(tmp_path)[2]
    for path in sorted((tmp_path / "node-1").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (tmp_path / "node-1").rmdir()

    _, layout, again = cluster(tmp_path)
    assert again == cluster_id == identity(tmp_path, 1).cluster_id
    assert len(layout.voters) == 3


def test_the_records_of_a_node_by_itself_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n")

    with pytest.raises(Failure, match="a node by itself"):
        ClusterFolder(str(tmp_path)).check(3)
    assert [each.name for each in tmp_path.iterdir()] == ["meta.properties"]


def test_a_node_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "node-1").mkdir()
    (tmp_path / "node-1" / "package.json").write_text("")

    with pytest.raises(Failure, match=r"node-1/package.json in it, which is no node's"):
        ClusterFolder(str(tmp_path)).check(3)


def test_a_folder_with_something_else_in_it_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("")

    with pytest.raises(Failure, match=r"letters\.txt"):
        ClusterFolder(str(tmp_path)).check(3)


def test_nodes_that_would_not_be_started_are_named(tmp_path: Path) -> None:
    cluster(tmp_path, 5)

    with pytest.raises(Failure, match=r"has 5 nodes and --brokers says 4: say --brokers 5.*drain"):
        ClusterFolder(str(tmp_path)).check(4)


def test_nodes_of_two_clusters_are_told(tmp_path: Path) -> None:
    cluster(tmp_path)
    (tmp_path / "node-2/data/meta.properties").write_bytes(Identity("other", 2, new_id()).encode())

    with pytest.raises(Failure, match="different clusters"):
        ClusterFolder(str(tmp_path)).cluster_id()


def test_a_port_that_somebody_has_is_not_free() -> None:
    with socket.create_server(("localhost", 0)) as taken:
        assert not is_free(taken.getsockname()[1])


@pytest.mark.parametrize(("has_it", "starts"), [((), True), ((1,), False), ((1, 3), True), ((1, 2, 3), True)])
def test_voters_that_lost_their_metadata_do_not_outvote_one_that_has_it(
    tmp_path: Path, has_it: tuple[int, ...], starts: bool
) -> None:
    cluster(tmp_path)
    for node in has_it:
        (tmp_path / f"node-{node}/data/__cluster_metadata-0").mkdir()

    if starts:
        cluster(tmp_path)
    else:
        with pytest.raises(Failure, match="nodes 2 and 3 have lost their metadata"):
            cluster(tmp_path)
