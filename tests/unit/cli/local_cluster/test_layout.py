"""Nodes, ports, roles, and the settings that follow."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from andiron.broker.settings.property_file import parse_properties
from andiron.cli.failure import Failure
from andiron.cli.local_cluster.layout import Layout, is_cluster, lay_out, parse_voter_ports, render


def laid_out(
    count: int, port: int = 9092, voters: dict[int, int] | None = None, taken: Collection[int] = ()
) -> Layout:
    return lay_out(count, port, voters or {}, lambda port: port not in taken)


def settings(layout: Layout, node: int = 1, **chosen: str) -> dict[str, str]:
    return layout.properties(layout.nodes[node - 1], "/d", chosen)


@pytest.mark.parametrize(("count", "voters"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (5, [1, 2, 3])])
def test_the_first_three_nodes_vote(count: int, voters: list[int]) -> None:
    layout = laid_out(count)

    assert list(layout.voters) == voters
    assert [settings(layout, node.id)["process.roles"] for node in layout.nodes] == [
        "broker,controller" if node.id in voters else "broker" for node in layout.nodes
    ]


def test_clients_are_told_every_port() -> None:
    assert laid_out(3).bootstrap == "localhost:9092,localhost:9093,localhost:9094"


def test_controllers_take_ports_that_nobody_has() -> None:
    assert laid_out(3, taken={9102, 9104}).voters == {1: 9103, 2: 9105, 3: 9106}
    assert set(laid_out(9, port=64_900).voters.values()).isdisjoint(range(64_900, 64_909))


def test_the_most_brokers_leave_the_voters_their_ports() -> None:
    first = laid_out(3)

    assert laid_out(9, voters=first.voters).voters == first.voters


def test_the_voters_ports_can_be_chosen_once() -> None:
    assert lay_out(3, 9092, {}, lambda port: True, controllers=7001).voters == {1: 7001, 2: 7002, 3: 7003}
    with pytest.raises(Failure, match="leave --controller-port out"):
        lay_out(3, 9092, {1: 7001, 2: 7002, 3: 7003}, lambda port: True, controllers=8001)


def test_all_listen_where_they_are_told_to() -> None:
    layout = lay_out(1, 9092, {}, lambda port: True, "127.0.0.2", "127.0.0.2")

    assert settings(layout)["listeners"] == "PLAINTEXT://127.0.0.2:9092,CONTROLLER://127.0.0.2:9102"
    assert settings(layout)["controller.quorum.voters"] == "1@127.0.0.2:9102"
    assert settings(layout)["metrics.listener"] == "http://127.0.0.2:9112"


def test_voters_are_not_shown_to_the_world() -> None:
    layout = lay_out(1, 9092, {}, lambda port: True, "machine", "")

    assert settings(layout)["listeners"] == "PLAINTEXT://:9092,CONTROLLER://localhost:9102"


def test_a_cluster_that_is_there_keeps_its_voters_and_their_ports() -> None:
    layout = laid_out(4, voters={1: 7001, 2: 7002}, taken={7001, 7002})

    assert layout.voters == {1: 7001, 2: 7002}
    assert [node.controller_port for node in layout.nodes] == [7001, 7002, None, None]


@pytest.mark.parametrize(
    ("count", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (9, "3", "2")]
)
def test_three_replicas_bear_the_loss_of_one(count: int, replicas: str, in_sync: str) -> None:
    given = settings(laid_out(count))

    for name in ("default", "offsets.topic", "transaction.state.log"):
        assert given[f"{name}.replication.factor"] == replicas
    assert given["min.insync.replicas"] == given["transaction.state.log.min.isr"] == in_sync


def test_every_node_has_its_own_ports_and_all_the_same_voters() -> None:
    layout = laid_out(4)

    assert settings(layout, 2)["listeners"] == "PLAINTEXT://localhost:9093,CONTROLLER://localhost:9103"
    assert settings(layout, 4)["listeners"] == "PLAINTEXT://localhost:9095"
    voters = {settings(layout, node.id)["controller.quorum.voters"] for node in layout.nodes}
    assert voters == {"1@localhost:9102,2@localhost:9103,3@localhost:9104"}


def test_what_was_chosen_wins() -> None:
    assert settings(laid_out(3), **{"min.insync.replicas": "1"})["min.insync.replicas"] == "1"


@pytest.mark.parametrize("name", ["node.id", "listeners", "controller.quorum.voters", "log.dirs"])
def test_what_makes_the_cluster_cannot_be_chosen(name: str) -> None:
    with pytest.raises(Failure, match=name):
        settings(laid_out(3), **{name: "1"})


def test_fewer_nodes_than_voters_is_no_cluster() -> None:
    with pytest.raises(Failure, match="--brokers 3"):
        laid_out(2, voters={1: 1, 2: 2, 3: 3})


def test_a_clients_port_is_not_a_controllers() -> None:
    with pytest.raises(Failure, match="10092 is a controller's"):
        laid_out(1, port=10092, voters={1: 10092})


@pytest.mark.parametrize("port", [0, 65_533, 70_000])
def test_ports_must_fit(port: int) -> None:
    with pytest.raises(Failure, match="do not fit"):
        laid_out(3, port=port)


def test_no_port_free_is_told() -> None:
    with pytest.raises(Failure, match="no ports are free"):
        lay_out(1, 9092, {}, lambda port: False)


def test_what_is_written_is_read_back() -> None:
    given = settings(laid_out(3), **{"x": "C:\\data\tand\nmore"})

    assert parse_properties(render(given)) == given
    assert parse_voter_ports(given["controller.quorum.voters"]) == laid_out(3).voters


def test_voters_that_were_not_written_here_are_told() -> None:
    with pytest.raises(Failure, match="is not what was written"):
        parse_voter_ports("one@localhost:1")


def test_a_cluster_is_known_by_its_first_node(tmp_path: Path) -> None:
    assert not is_cluster(str(tmp_path))
    (tmp_path / "node-1").mkdir()
    (tmp_path / "node-1/server.properties").write_text("")
    assert is_cluster(str(tmp_path))


def test_every_node_has_metrics() -> None:
    layout = laid_out(3)

    assert [node.metrics_port for node in layout.nodes] == [9112, 9113, 9114]
    assert layout.metrics[0] == "http://localhost:9112/metrics"
    assert settings(layout, 2)["metrics.listener"] == "http://localhost:9113"


def test_metrics_take_ports_that_nobody_has() -> None:
    assert [node.metrics_port for node in laid_out(3, taken={9113, 9114}).nodes] == [9112, 9115, 9116]
    layout = laid_out(3, voters={1: 9112, 2: 9113, 3: 9114})
    assert [node.metrics_port for node in layout.nodes] == [9115, 9116, 9117]
    with pytest.raises(Failure, match="no ports are free"):
        laid_out(1, voters={1: 7001}, taken=range(65536))


def test_metrics_are_where_they_are_wanted() -> None:
    layout = lay_out(2, 9092, {}, lambda port: True, metrics=7000)

    assert [node.metrics_port for node in layout.nodes] == [7000, 7001]
