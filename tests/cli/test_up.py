"""`andiron up`: ready, stopped, and what stands in its way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import command
from peers.ports import free_port

Start = Callable[..., "subprocess.Popen[str]"]
LAST_LINE = "Ctrl-C stops it.\n"


@pytest.fixture
def start() -> Iterator[Start]:
    """Start `andiron up` and wait until it has said that it serves, and how to talk to it."""
    started: list[subprocess.Popen[str]] = []

    def start_one(*options: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command("up", *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        said = []
        for line in process.stdout:  # all of it: what this buffers is not seen by communicate()
            said.append(line)
            if line == LAST_LINE:
                break
        assert " serves " in said[0]
        assert any("kcat -b localhost:" in line for line in said)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.communicate()


def refused(*options: object) -> str:
    """What a node that does not start says: one line, and exit code 1."""
    done = subprocess.run(command("up", *options), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def andiron(port: int, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        command(*arguments, "-b", f"localhost:{port}"),
        input=stdin,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_one_line(start: Start, folder: Path, number: signal.Signals) -> None:
    process = start("--data", folder, "--port", free_port())
    process.send_signal(number)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 0
    assert err.splitlines()[-1] == "andiron: stopped; everything is on the disk"
    assert (folder / ".kafka_cleanshutdown").exists()


def test_what_was_written_is_there_after_a_restart(start: Start, folder: Path) -> None:
    port = free_port()
    process = start("--data", folder, "--port", port)
    andiron(port, "topic", "create", "kept", "--partitions", "3", "--config", "retention.ms=-1")
    andiron(port, "produce", "kept", stdin="one\ntwo\n")
    process.terminate()
    process.communicate(timeout=60)
    start("--data", folder, "--port", port, "--fsync")

    assert andiron(port, "consume", "kept").split() == ["one", "two"]
    assert "retention.ms" in andiron(port, "topic", "describe", "kept")


def test_a_server_properties_is_taken_as_typed(start: Start, folder: Path) -> None:
    port, other = free_port(), free_port()
    config = folder / "server.properties"
    config.write_text(
        f"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:{other}\n"
        f"listeners=PLAINTEXT://:{port},CONTROLLER://:{other}\nadvertised.listeners=PLAINTEXT://localhost:{port}\n"
        f"controller.listener.names=CONTROLLER\nlog.dirs={folder}/data\nnum.network.threads=8\n"
    )
    start("--config", config)

    assert "hello" in andiron(port, "produce", "t", stdin="hello\n") + andiron(port, "consume", "t")
    assert (folder / "data" / "t-0").is_dir()


def test_a_port_in_use_is_told(folder: Path) -> None:
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        assert str(port) in refused("--data", folder, "--port", port)


def test_a_folder_in_use_is_told(start: Start, folder: Path) -> None:
    start("--data", folder, "--port", free_port())

    assert str(folder) in refused("--data", folder, "--port", free_port())


def test_a_folder_that_is_a_file_is_told(folder: Path) -> None:
    (folder / "file").write_text("")

    assert f"{folder}/file" in refused("--data", folder / "file", "--port", free_port())


def test_a_folder_of_another_node_is_told(start: Start, folder: Path) -> None:
    process = start("--data", folder, "--port", free_port())
    process.terminate()
    process.communicate(timeout=60)

    assert "node" in refused("--data", folder, "--port", free_port(), "--set", "node.id=7")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(folder: Path) -> None:
    folder.chmod(0o500)

    assert str(folder) in refused("--data", folder, "--port", free_port())


@pytest.mark.parametrize(
    "setting",
    ["log.retention.huors=1", "log.retention.hours=x", "process.roles=broker", "authorizer.class.name=x"],
)
def test_a_setting_that_cannot_be_is_named(folder: Path, setting: str) -> None:
    assert setting.partition("=")[0] in refused("--data", folder, "--port", free_port(), "--set", setting)
