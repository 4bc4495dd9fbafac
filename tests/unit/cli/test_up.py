"""What `andiron up` tells the node. That it then runs: tests/cli/test_up.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.broker.settings.node_settings import NodeSettings
from andiron.cli import up as module
from andiron.cli.local_cluster import start
from andiron.cli.main import andiron


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[NodeSettings]:
    """The settings that a node would have been started with."""
    nodes: list[NodeSettings] = []

    def run(settings: NodeSettings, announce: Any = None, **_options: Any) -> int:
        nodes.append(settings)
        if announce is not None:
            announce(settings)
        return 0

    monkeypatch.setattr(module, "run", run)
    return nodes


def up(*arguments: str) -> Any:
    return CliRunner().invoke(andiron, ["up", *arguments])


def test_a_node_by_itself_is_broker_and_controller(started: list[NodeSettings], tmp_path: Path) -> None:
    assert up("--data", str(tmp_path)).exit_code == 0

    (settings,) = started
    assert settings.roles == ("broker", "controller")
    assert [str(each) for each in settings.listeners] == [
        "PLAINTEXT://localhost:9092",
        "CONTROLLER://localhost:9093",
    ]
    assert settings.log_dirs == (str(tmp_path),)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::"])
def test_whoever_its_clients_are_the_controller_of_a_node_by_itself_is_for_this_machine(
    started: list[NodeSettings], tmp_path: Path, host: str
) -> None:
    up("--data", str(tmp_path), "--host", host, "--port", "19092")

    (settings,) = started
    assert str(settings.listeners[1]) == "CONTROLLER://localhost:19093"


def test_a_node_by_itself_lets_producers_prepare(started: list[NodeSettings], tmp_path: Path) -> None:
    up("--data", str(tmp_path))
    up("--data", str(tmp_path), "--set", "transaction.two.phase.commit.enable=false")

    assert [each.transactions.transaction_two_phase_commit_enable for each in started] == [True, False]


def test_ready_it_says_where_it_is_and_how_to_talk_to_it(started: list[NodeSettings], tmp_path: Path) -> None:
    said = up("--data", str(tmp_path), "--port", "19").stdout

    assert "node 1 serves localhost:19\n" in said
    assert str(tmp_path) in said
    assert "kcat -b localhost:19" in said
    assert '"bootstrap.servers": "localhost:19"' in said
    assert "andiron produce -b localhost:19 greetings" in said


def test_on_the_usual_port_the_hint_needs_no_option(started: list[NodeSettings], tmp_path: Path) -> None:
    assert "andiron produce greetings" in up("--data", str(tmp_path)).stdout


def test_quiet_says_nothing(started: list[NodeSettings], tmp_path: Path) -> None:
    result = up("--data", str(tmp_path), "--quiet")

    assert (result.stdout, result.stderr) == ("", "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "*"])
def test_every_address_is_no_address(started: list[NodeSettings], host: str) -> None:
    up("--host", host)

    assert started[0].listeners[0].host == ""
    assert started[0].advertised[0].host


def test_an_ipv6_address_goes_into_brackets(started: list[NodeSettings]) -> None:
    up("--host", "::1", "--port", "5000")

    assert str(started[0].listeners[0]) == "PLAINTEXT://[::1]:5000"


def test_a_file_is_read_as_kafka_reads_it(started: list[NodeSettings], tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text(
        "# the example of the documentation\n"
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:9093\n"
        "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n"
        "log.dirs=/var/kafka/data\n"
    )
    assert up("--config", str(config)).exit_code == 0
    assert started[0].log_dirs == ("/var/kafka/data",)

    up("--config", str(config), "--data", str(tmp_path), "--set", "node.id=1")
    assert started[1].log_dirs == (str(tmp_path),)


def test_settings_given_by_hand_win(started: list[NodeSettings]) -> None:
    up("--set", "log.retention.hours=5", "--set", "node.id=7")

    assert started[0].node_id == 7
    assert started[0].log_defaults.retention_ms == 5 * 3_600_000


def test_fsync_is_a_setting(started: list[NodeSettings]) -> None:
    up("--fsync")

    assert started[0].log_defaults.flush_messages == 1


def test_a_file_has_the_listeners(tmp_path: Path, started: list[NodeSettings]) -> None:
    config = tmp_path / "server.properties"
    config.write_text("")

    assert up("--config", str(config), "--port", "5").exit_code == 2
    assert not started


def test_a_wrong_setting_is_named_in_one_line(started: list[NodeSettings]) -> None:
    result = up("--set", "log.retention.huors=5")

    assert result.exit_code == 1
    assert result.stderr.startswith("andiron: log.retention.huors: ")
    assert result.stderr.count("\n") == 1


def test_a_file_that_is_not_there_is_a_failure_and_not_wrong_usage(started: list[NodeSettings]) -> None:
    assert up("--config", "/no/such/file").exit_code == 1


def test_the_exit_code_is_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run", lambda settings, announce=None, brake=None: 1)

    assert up().exit_code == 1


def test_a_cluster_is_laid_out_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(start, "start_cluster", lambda *given, **options: asked.append((given, options)) or 7)

    assert (
        up("--brokers", "3", "--data", str(tmp_path), "--fsync", "--set", "a=b", "--restart").exit_code == 7
    )
    chosen = {"log.flush.interval.messages": "1", "a": "b"}
    assert asked == [
        (
            (3, str(tmp_path), "localhost", 9092, chosen),
            {"metrics": None, "controllers": None, "restart": True, "quiet": False, "log_format": "text"},
        )
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--brokers", "0"],
        ["--brokers", "10"],
        ["--brokers", "3", "--config", "f"],
        ["--brokers", "3", "--cluster-id", "i"],
        ["--restart"],
    ],
)
def test_what_does_not_go_together_is_wrong_usage(started: list[NodeSettings], arguments: list[str]) -> None:
    assert up(*arguments).exit_code == 2
    assert not started


def test_a_clusters_folder_is_not_a_nodes(started: list[NodeSettings], tmp_path: Path) -> None:
    (tmp_path / "node-1").mkdir()
    (tmp_path / "node-1/server.properties").write_text("")

    result = up("--data", str(tmp_path))
    assert result.exit_code == 1
    assert "say --brokers" in result.stderr
    assert not started


def test_one_of_several_nodes_does_not_found_a_cluster_by_itself(
    started: list[NodeSettings], tmp_path: Path
) -> None:
    file = tmp_path / "server.properties"
    file.write_text(
        "node.id=1\nprocess.roles=broker,controller\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
        f"controller.quorum.voters=1@a:9093,2@b:9093,3@c:9093\nlog.dirs={tmp_path}/data\n"
    )

    refused = up("--config", str(file))

    assert refused.exit_code == 1
    assert f"andiron up --config {file} --cluster-id ID" in refused.stderr
    assert not started and not (tmp_path / "data").exists()
    assert up("--config", str(file), "--cluster-id", "aOn33Wh5RXuw7gRvK0a5Lg").exit_code == 0
    assert up("--config", str(file)).exit_code == 0, "later starts need no id"


def test_the_controllers_port_can_be_chosen(started: list[NodeSettings], tmp_path: Path) -> None:
    up("--data", str(tmp_path), "--port", "7000", "--controller-port", "7100")

    assert [each.port for each in started[0].listeners] == [7000, 7100]


def test_a_new_node_takes_the_id_that_it_is_given(started: list[NodeSettings], tmp_path: Path) -> None:
    one, other = "wQAAm2XbQ3iY4kCQq1tM0Q", "xQAAm2XbQ3iY4kCQq1tM0Q"
    data = ["--data", str(tmp_path / "d")]
    assert up(*data, "--cluster-id", one).exit_code == 0
    assert f"cluster.id={one}\n" in (tmp_path / "d/meta.properties").read_text()

    assert up(*data, "--cluster-id", one).exit_code == 0
    refused = up(*data, "--cluster-id", other)
    assert (refused.exit_code, len(started)) == (1, 2)
    assert f"belongs to cluster {one}" in refused.stderr


def test_metrics_have_a_port_if_one_is_given(started: list[NodeSettings], tmp_path: Path) -> None:
    said = [
        up("--data", str(tmp_path)).stdout,
        up("--data", str(tmp_path), "--metrics", "9644").stdout,
        up("--data", str(tmp_path), "--host", "0.0.0.0", "--metrics", "9644").stdout,
    ]

    assert [each.metrics_listener and str(each.metrics_listener) for each in started] == [
        None,
        "http://localhost:9644",
        "http://:9644",
    ]
    assert "metrics are" not in said[0]
    assert "metrics are at http://localhost:9644/metrics\n" in said[1]


def test_a_controller_alone_says_where_it_is_and_not_how_to_produce(
    started: list[NodeSettings], tmp_path: Path
) -> None:
    file = tmp_path / "controller.properties"
    file.write_text(
        "node.id=1\nprocess.roles=controller\nlisteners=CONTROLLER://localhost:9093\n"
        "controller.listener.names=CONTROLLER\ncontroller.quorum.voters=1@localhost:9093\n"
        f"log.dirs={tmp_path}/data\nmetrics.listener=http://:9644\n"
    )
    ran = up("--config", str(file))

    assert ran.exit_code == 0, ran.output
    assert "node 1 serves localhost:9093\n" in ran.stdout
    assert "metrics are at http://localhost:9644/metrics\n" in ran.stdout
    assert "kcat" not in ran.stdout
