"""What keeps a node from starting is told in one line, and nothing of anyone else's is touched."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from peers.node import Node
from peers.ports import free_port

MINIMAL = "node.id=1\nprocess.roles=broker,controller\ncontroller.listener.names=CONTROLLER\n"
LISTENERS = "listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0\n"


def refusal(*arguments: str | Path) -> str:
    """The one line with which `andiron up` gives up."""
    command = [sys.executable, "-m", "andiron", "up", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("andiron: ")
    return line.removeprefix("andiron: ")


def by_itself(data: Path, *more: str) -> str:
    return refusal("--data", data, "--port", "0", *more)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The data folder of a node that has run."""
    with Node(tmp_path / "node") as node:
        assert node.stop() == 0
    return node.data


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        line = refusal("--data", tmp_path / "data", "--port", port, "--host", "127.0.0.1")

    assert str(port) in line
    assert "in use" in line


def test_a_second_process_on_the_same_folder(tmp_path: Path) -> None:
    with Node(tmp_path / "node") as node:
        line = by_itself(node.data)

        assert line == f"{node.data} is in use by another process; stop that one, or choose another folder"
        assert node.running


def test_a_second_process_on_one_of_several_folders(tmp_path: Path) -> None:
    with Node(tmp_path / "node") as node:
        line = by_itself(tmp_path / "other", "--set", f"log.dirs={tmp_path / 'other'},{node.data}")

        assert line == f"{node.data} is in use by another process; stop that one, or choose another folder"


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")

    assert str(tmp_path / "data") in by_itself(tmp_path / "data")


def test_a_folder_that_cannot_be_made() -> None:
    assert "/proc/nowhere" in by_itself(Path("/proc/nowhere"))


def test_a_host_that_is_not_here(tmp_path: Path) -> None:
    assert "192.0.2.1" in by_itself(tmp_path / "data", "--host", "192.0.2.1")


# ── whose folder it is ───────────────────────────────────────────────────────────────


def test_the_folder_of_another_node(stopped: Path) -> None:
    before = contents(stopped)

    line = by_itself(stopped, "--set", "node.id=7")

    assert (
        line
        == f"{stopped} belongs to node 1, and this is node 7; start it with node.id=1, or choose another folder"
    )
    assert contents(stopped) == before


def test_folders_of_two_clusters(stopped: Path, tmp_path: Path) -> None:
    with Node(tmp_path / "other") as other:
        other.stop()

    line = by_itself(stopped, "--set", f"log.dirs={stopped},{other.data}")

    assert line.startswith(f"{other.data} belongs to cluster ")


def test_a_folder_that_is_not_a_nodes_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "photos-2024").mkdir()
    (tmp_path / "photos-2024" / "beach.jpg").write_bytes(b"sand")

    line = by_itself(tmp_path)

    assert line.startswith(f"{tmp_path} has photos-2024 in it and no meta.properties, so it is no node's")
    assert contents(tmp_path) == {"photos-2024/beach.jpg": b"sand"}
    assert by_itself(tmp_path, "--cluster-id", "aOn33Wh5RXuw7gRvK0a5Lg") == line
    assert contents(tmp_path) == {"photos-2024/beach.jpg": b"sand"}


def test_the_folder_of_a_partition_of_a_node_that_runs(tmp_path: Path) -> None:
    with Node(tmp_path / "node") as node:
        folder = node.data / "__cluster_metadata-0"

        assert by_itself(folder).startswith(f"{folder} has ")
        assert not (folder / ".lock").exists()


@pytest.mark.parametrize(
    "text", ["", "version=1\n", "version=0\nbroker.id=1\n", "version=1\nnode.id=x\ncluster.id=y\n", "\0\xff"]
)
def test_a_meta_properties_that_says_nothing_of_use(stopped: Path, text: str) -> None:
    (stopped / "meta.properties").write_text(text, encoding="latin-1")

    assert str(stopped / "meta.properties") in by_itself(stopped)


def test_metadata_with_a_flipped_bit(stopped: Path) -> None:
    path = stopped / "__cluster_metadata-0" / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    before = contents(stopped)

    line = by_itself(stopped)

    assert line.startswith(f"{path} is damaged at byte ")
    assert f"`andiron log mend {path.parent}`" in line
    assert contents(stopped) == before


# ── settings ─────────────────────────────────────────────────────────────────────────


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert refusal("--config", tmp_path / "none") == f"{tmp_path / 'none'}: no such file or directory"


def test_a_file_that_is_a_folder(tmp_path: Path) -> None:
    assert refusal("--config", tmp_path) == f"{tmp_path}: is a directory"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.touch(mode=0o000)

    assert refusal("--config", config) == f"{config}: permission denied"


def configured(tmp_path: Path, text: str) -> str:
    config = tmp_path / "server.properties"
    config.write_bytes(text.encode("latin-1"))
    return refusal("--config", config)


SETTINGS = {
    "nothing at all": ("", "node.id"),
    "no roles": ("node.id=1\n" + LISTENERS, "process.roles"),
    "an unknown setting": (MINIMAL + LISTENERS + "log.retention.huors=5\n", "log.retention.huors"),
    "a number that is none": (MINIMAL + LISTENERS + "num.partitions=many\n", "num.partitions"),
    "a number out of bounds": (MINIMAL + LISTENERS + "num.partitions=0\n", "num.partitions"),
    "a choice there is not": (MINIMAL + LISTENERS + "log.cleanup.policy=burn\n", "log.cleanup.policy"),
    "two ids": (MINIMAL + LISTENERS + "broker.id=2\n", "broker.id"),
    "lags that contradict each other": (
        MINIMAL + LISTENERS + "log.cleaner.min.compaction.lag.ms=9\nlog.cleaner.max.compaction.lag.ms=5\n",
        "compaction.lag.ms",
    ),
    "one port for two": (
        MINIMAL + "listeners=PLAINTEXT://127.0.0.1:19,CONTROLLER://127.0.0.1:19\n", "listeners",
    ),
    "a listener that is not there": (
        MINIMAL.replace("=CONTROLLER", "=OTHER") + LISTENERS, "controller.listener.names",
    ),
    "a listener that makes no sense": (MINIMAL + "listeners=here\n", "listeners"),
    "encryption, which is not there": (
        MINIMAL + LISTENERS + "listener.security.protocol.map=PLAINTEXT:SSL,CONTROLLER:PLAINTEXT\n",
        "listener.security.protocol.map",
    ),
    "voters without this node": (
        MINIMAL + LISTENERS + "controller.quorum.voters=7@127.0.0.1:9093\n", "controller.quorum.voters",
    ),
    "a folder twice": (MINIMAL + LISTENERS + "log.dirs=/tmp/a,/tmp/a/\n", "log.dirs"),
    "bytes that are no text": ("\xff\xfe=\x80\n", "no such setting"),
    "two lines in one name": (MINIMAL + LISTENERS + "a\\\n  b=1\n", "no such setting"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "named"), SETTINGS.values(), ids=SETTINGS)
def test_settings_that_cannot_stand_are_named(tmp_path: Path, text: str, named: str) -> None:
    assert named in configured(tmp_path, text)


@pytest.mark.parametrize("setting", ["nonsense=1", "node.id=x", "node.id=-1", "listeners=", "log.dirs="])
def test_a_bad_setting_on_the_command_line_is_named(tmp_path: Path, setting: str) -> None:
    assert setting.split("=", maxsplit=1)[0] in by_itself(tmp_path / "data", "--set", setting)


def test_a_refused_start_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    by_itself(tmp_path / "data", "--set", "nonsense=1")

    assert not (tmp_path / "data").exists()


# ── what is no obstacle ──────────────────────────────────────────────────────────────


def test_a_port_is_free_again_at_once(tmp_path: Path) -> None:
    port = free_port()
    for _ in range(2):
        with Node(tmp_path / "node", port) as node:
            node.kill()


def test_a_folder_left_by_a_killed_process_is_not_in_use(tmp_path: Path) -> None:
    with Node(tmp_path / "node") as node:
        node.kill()
        node.start()
        assert node.stop() == 0
