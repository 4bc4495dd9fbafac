from __future__ import annotations

import gc
import os
import resource
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from andiron.broker.settings.node_settings import NodeSettings
from andiron.edge import main
from andiron.edge.disk import PosixDisk
from andiron.edge.slow_disk import SlowDisk
from andiron.model.errors import AndironError
from edge.scripted import ScriptedNode


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """What `run` changes about the process is put back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    signal.set_wakeup_fd(-1)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    gc.unfreeze()
    gc.enable()


class Given(ScriptedNode):
    """A scripted node, made as a real one is."""

    made: list[Given] = []
    fails: Exception | None = None

    def __init__(self, settings: NodeSettings, disk: PosixDisk, seed: int) -> None:
        super().__init__()
        self.settings, self.seed = settings, seed
        self.made.append(self)

    def start(self, now: int) -> list[Any]:
        if self.fails:
            raise self.fails
        return super().start(now)


@pytest.fixture
def nodes(monkeypatch) -> list[Given]:
    monkeypatch.setattr(Given, "made", [])
    monkeypatch.setattr(main, "Node", Given)
    return Given.made


def settings(folder: Any, *, port: int = 0, **given: str) -> NodeSettings:
    return NodeSettings.load(
        {
            "node.id": "1",
            "process.roles": "broker,controller",
            "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:0",
            "log.dirs": f"{folder}/data",
            **{name.replace("_", "."): value for name, value in given.items()},
        }
    )


def run(told: NodeSettings, signals: int = 1) -> tuple[int, list[NodeSettings]]:
    """Run until it serves, then send signals; the exit code, and what was announced."""
    announced: list[NodeSettings] = []

    def announce(settings: NodeSettings) -> None:
        announced.append(settings)
        for _ in range(signals):
            os.kill(os.getpid(), signal.SIGTERM)

    return main.run(told, announce=announce), announced


def test_a_node_runs_until_a_signal_and_ends_with_zero(tmp_path, nodes):
    code, announced = run(settings(tmp_path))
    assert code == 0
    assert len(announced) == 1
    assert nodes[0].stopped_at is not None


def test_port_zero_becomes_the_port_that_was_taken(tmp_path, nodes):
    _, (announced,) = run(settings(tmp_path))
    assert announced.listeners[0].port > 0
    assert announced.advertised[0].port == announced.listeners[0].port
    assert nodes[0].settings == announced


def test_two_nodes_do_not_share_a_seed(tmp_path, nodes):
    run(settings(tmp_path))
    run(settings(tmp_path))
    assert nodes[0].seed != nodes[1].seed


def test_a_port_in_use_is_one_line_and_exit_code_1(tmp_path, nodes, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, announced = run(settings(tmp_path, port=port))
    assert (code, announced) == (1, [])
    assert capsys.readouterr().err == (
        f"andiron: cannot listen on PLAINTEXT://127.0.0.1:{port}: the port is in use; "
        "stop what listens there, or choose another\n"
    )
    assert not os.path.exists(f"{tmp_path}/data"), "nothing was touched"


def test_a_directory_in_use_is_one_line_and_exit_code_1(tmp_path, nodes, capsys):
    disk = PosixDisk()
    disk.make_directory(f"{tmp_path}/data")
    disk.lock(f"{tmp_path}/data")
    code, _ = run(settings(tmp_path))
    disk.close_all()
    assert code == 1
    assert (
        capsys.readouterr().err
        == f"andiron: {tmp_path}/data is in use by another process; stop that one, or choose another folder\n"
    )


def test_a_directory_that_cannot_be_made_is_one_line_and_exit_code_1(tmp_path, nodes, capsys):
    (tmp_path / "data").write_text("a file is in its place")
    code, _ = run(settings(tmp_path))
    assert code == 1
    printed = capsys.readouterr().err
    assert printed == f"andiron: cannot use the data directory {tmp_path}/data: file exists\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_directory_is_one_line_and_exit_code_1(tmp_path, nodes, capsys):
    (tmp_path / "data").mkdir(mode=0o500)
    code, _ = run(settings(tmp_path))
    assert code == 1
    assert "permission denied" in capsys.readouterr().err


def test_what_the_node_refuses_at_its_start_is_one_line_and_exit_code_1(tmp_path, nodes, capsys, monkeypatch):
    monkeypatch.setattr(Given, "fails", AndironError("the directory belongs to cluster A, not to B"))
    code, announced = run(settings(tmp_path))
    assert (code, announced) == (1, [])
    assert capsys.readouterr().err == "andiron: the directory belongs to cluster A, not to B\n"


def test_after_a_refusal_addresses_and_directories_are_free_again(tmp_path, nodes, monkeypatch):
    monkeypatch.setattr(Given, "fails", AndironError("no"))
    assert run(settings(tmp_path))[0] == 1
    monkeypatch.setattr(Given, "fails", None)
    assert run(settings(tmp_path))[0] == 0


def test_settings_without_effect_are_named_in_the_log(tmp_path, nodes, caplog):
    run(settings(tmp_path, num_io_threads="16"))
    assert "num.io.threads" in caplog.text


def test_the_limit_of_open_files_is_raised(tmp_path, nodes):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    run(settings(tmp_path))
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard


def test_what_is_made_at_the_start_is_spared_by_the_collector(tmp_path, nodes):
    run(settings(tmp_path))
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_a_directory_of_its_own_for_the_metadata_is_locked_too(tmp_path, nodes, capsys):
    told = replace(settings(tmp_path), metadata_log_dir=f"{tmp_path}/metadata")
    disk = PosixDisk()
    disk.make_directory(f"{tmp_path}/metadata")
    disk.lock(f"{tmp_path}/metadata")
    assert run(told)[0] == 1
    assert "metadata is in use" in capsys.readouterr().err
    disk.close_all()
    assert run(told)[0] == 0, "the first directory was given back"


def test_with_a_brake_the_disk_can_be_made_slow(nodes, tmp_path) -> None:
    assembly = main.assemble(settings(tmp_path / "data"), brake=str(tmp_path / "brake"))

    assert isinstance(assembly.disk, SlowDisk)
    assembly.close()


def test_a_node_that_its_cluster_refuses_is_one_line_and_exit_code_1(tmp_path, nodes, capsys, monkeypatch):
    monkeypatch.setattr(Given, "trouble", "broker 1 is not taken in by its cluster: its id is taken")
    monkeypatch.setattr(Given, "patience_ms", 0)
    monkeypatch.setattr(Given, "start", lambda self, now: setattr(self, "deadline", now) or [])
    code, announced = run(settings(tmp_path))
    assert (code, announced) == (1, [])
    assert capsys.readouterr().err == "andiron: broker 1 is not taken in by its cluster: its id is taken\n"


def test_a_node_whose_metadata_log_fails_ends_with_exit_code_1(tmp_path, nodes, monkeypatch):
    told = settings(tmp_path)

    def announce(settings: NodeSettings) -> None:
        monkeypatch.setattr(nodes[0], "broken", "fsync failed")
        nodes[0].deadline = 0

    assert main.run(told, announce=announce) == 1


def test_metrics_have_a_port_of_their_own_and_are_there_before_the_node_is_ready(
    tmp_path, nodes, monkeypatch
):
    told = settings(tmp_path, metrics_listener="http://127.0.0.1:0")
    assembly = main.assemble(told)
    port = assembly.settings.metrics_listener.port
    answers = []

    def start(listeners):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            while not answers:
                assembly.host.turn(assembly.host.now + 10)
                client.setblocking(False)
                try:
                    answers.append(client.recv(1000))
                except BlockingIOError:
                    continue

    monkeypatch.setattr(assembly.host, "start", start)
    assembly.start()
    assembly.close()

    assert port > 0
    assert answers[0].startswith(b"HTTP/1.1 503 ") and b"a flush" in answers[0]


def test_a_port_for_metrics_that_is_in_use_is_one_line_and_exit_code_1(tmp_path, nodes, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, _ = run(settings(tmp_path, metrics_listener=f"http://127.0.0.1:{port}"))
    assert code == 1
    assert capsys.readouterr().err == (
        f"andiron: cannot listen on http://127.0.0.1:{port}: the port is in use; "
        "stop what listens there, or choose another\n"
    )
