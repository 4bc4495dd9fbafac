"""Three nodes as they are told to be; what they do when they run: tests/compat/test_failover.py."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.settings.property_file import parse_properties
from andiron.chaos.cluster import ChaosCluster, free_ports
from andiron.chaos.proxy import HOST
from andiron.cli.failure import Failure
from andiron.cli.local_cluster.child import Child


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ChaosCluster]:
    made = ChaosCluster(str(tmp_path), {"num.partitions": "7"})
    yield made
    made.close()


def settings_of(cluster: ChaosCluster, node: int) -> NodeSettings:
    path = Path(cluster.folder) / f"node-{node}" / "server.properties"
    return NodeSettings.load(parse_properties(path.read_text()))


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def sleeping(cluster: ChaosCluster, node: int) -> Child:
    """A process that does nothing, in the place of a node's."""
    child = Child(node, ["sleep", "60"], str(Path(cluster.folder) / "log"))
    cluster.children[node] = child
    child.start()
    return child


def state_of(child: Child) -> str:
    return Path(f"/proc/{child.pid}/stat").read_text().split()[2]


def test_other_nodes_are_told_the_ports_of_the_proxy(cluster: ChaosCluster) -> None:
    settings, ports = settings_of(cluster, 2), cluster.ports[2]

    told = {each.name: each.port for each in settings.advertised}
    assert told == {"PLAINTEXT": ports.clients, "REPLICATION": ports.replication_told}
    assert settings.inter_broker_listener == "REPLICATION"
    assert {id: each.port for id, each in settings.voters.items()} == {
        id: each.controller_told for id, each in cluster.ports.items()
    }


def test_clients_go_straight_to_the_nodes(cluster: ChaosCluster) -> None:
    assert cluster.bootstrap == ",".join(f"{HOST}:{each.clients}" for each in cluster.ports.values())


def test_clients_go_through_the_proxy_if_asked(tmp_path: Path) -> None:
    cluster = ChaosCluster(str(tmp_path), proxied_clients=True)
    try:
        assert not {each.clients for each in cluster.ports.values()} & {
            int(each.partition(":")[2]) for each in cluster.bootstrap.split(",")
        }
    finally:
        cluster.close()


def test_settings_are_for_all_nodes(cluster: ChaosCluster) -> None:
    assert {settings_of(cluster, node).broker.num_partitions for node in cluster.ids} == {7}


def test_the_metadata_have_a_disk_of_their_own(cluster: ChaosCluster) -> None:
    settings = settings_of(cluster, 1)

    assert settings.metadata_log_dir not in settings.log_dirs


def test_a_disk_is_slow_until_it_is_quick_again(cluster: ChaosCluster) -> None:
    cluster.slow_down(3, 1000.0)
    brake = Path(cluster.folder) / "node-3" / "brake"
    assert float(brake.read_text()) == 1000.0

    cluster.speed_up(3)
    assert not brake.exists()


def test_a_node_is_paused_and_goes_on(cluster: ChaosCluster) -> None:
    child = sleeping(cluster, 2)

    cluster.pause(2)
    wait_for(lambda: state_of(child) == "T")
    cluster.resume(2)
    wait_for(lambda: state_of(child) != "T")


def test_a_node_is_killed_with_all_that_it_had_said(
    cluster: ChaosCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    child, hung_up = sleeping(cluster, 2), list[int]()
    monkeypatch.setattr(cluster.board, "hang_up", hung_up.append)

    cluster.kill_with_wires(2)

    assert (child.exit_code, hung_up) == (-signal.SIGKILL, [2])


def test_whatever_runs_is_ended_in_the_end_also_if_it_is_paused(cluster: ChaosCluster) -> None:
    child = sleeping(cluster, 2)
    cluster.pause(2)
    cluster.close()

    assert child.exit_code == -signal.SIGKILL


def test_a_node_that_ends_by_itself_is_told_with_its_log(cluster: ChaosCluster) -> None:
    child = cluster.children[1] = Child(1, ["false"], str(Path(cluster.folder) / "log"))
    child.start()
    child.wait(10)

    with pytest.raises(Failure, match="node 1 ended by itself"):
        cluster.wait_until_up(5.0)


def test_who_waits_in_vain_is_told_where_to_look(cluster: ChaosCluster) -> None:
    with pytest.raises(Failure, match=f"the nodes did not come up.*{os.path.basename(cluster.folder)}"):
        cluster.wait_until_up(0.0)


def test_ports_are_different_and_free() -> None:
    ports = free_ports(9)

    assert len(set(ports)) == 9
    assert max(ports) < 32_000
