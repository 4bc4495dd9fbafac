"""Disks that run full and folders that may not be written: errors that say so, and nothing lost.

They need a small file system of their own, which only root may mount.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peers import frames
from peers.node import Node
from peers.process import DidNotStart
from peers.raw import Raw

KAFKA_STORAGE_ERROR = 56
SIZE = "4m"
VALUE_BYTES = 50_000
BATCHES = 200  # more than fit


def run(*command: str | Path) -> str:
    """Run a command; returns what it complains of."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        return str(error)
    return done.stderr.strip() or ("failed" if done.returncode else "")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if problem := run("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder):
        pytest.skip(f"a small file system cannot be mounted: {problem}")
    yield folder
    run("umount", "-l", folder)


def on(disk: Path, **settings: str) -> Node:
    """A node with its data there, and what it prints elsewhere."""
    node = Node(disk, settings={name.replace("_", "."): value for name, value in settings.items()})
    node.log = disk.parent / "printed.log"
    return node


def fill(disk: Path, leave: int = 0) -> Path:
    """Write until no more fits, but for `leave` bytes."""
    ballast = disk / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - leave))
    return ballast


def produce(link: Raw, number: int) -> tuple[int, int]:
    records = frames.batch([b"%d " % number + bytes(VALUE_BYTES)])
    return frames.read_produce(link.ask(frames.produce("t", {0: records}, acks=-1)))[0]


def written(link: Raw) -> int:
    """How many batches can be read, from the start to the end."""
    count = 0
    while records := link.fetch("t", count, wait_ms=0):
        count += len(frames.batch_codecs(records))
    return count


def until_refused(link: Raw) -> list[int]:
    """Produce until the disk is full; the numbers that were acknowledged."""
    acknowledged = []
    for number in range(BATCHES):
        error, offset = produce(link, number)
        if error:
            assert error == KAFKA_STORAGE_ERROR
            return acknowledged
        assert offset == number
        acknowledged.append(number)
    raise AssertionError("the disk is larger than it should be")


POLICIES = {"the system's": {}, "after each record": {"log_flush_interval_messages": "1"}}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_full_disk_refuses_records_and_takes_them_again_when_there_is_room(
    disk: Path, policy: dict[str, str]
) -> None:
    with on(disk, **policy) as node, Raw(node.port) as link:
        link.ask(frames.create_topics({"t": 1}))
        ballast = fill(disk, leave=1 << 20)
        acknowledged = until_refused(link)
        assert acknowledged
        assert produce(link, 0)[0] == KAFKA_STORAGE_ERROR

        assert written(link) == len(acknowledged), "what is there can be read"
        ballast.unlink()

        assert produce(link, len(acknowledged)) == (0, len(acknowledged))
        assert "Traceback" not in node.printed()
        assert node.stop() == 0
        node.start()
        with Raw(node.port) as again:
            assert written(again) == len(acknowledged) + 1


def test_a_topic_cannot_be_made_on_a_full_disk_and_can_when_there_is_room(disk: Path) -> None:
    with on(disk) as node, Raw(node.port) as link:
        ballast = fill(disk)
        refused = frames.read_create_topics(link.ask(frames.create_topics({"t": 3})))
        ballast.unlink()
        made = frames.read_create_topics(link.ask(frames.create_topics({"u": 3})))

        assert refused["t"] in (0, KAFKA_STORAGE_ERROR), "what still fits into its last block is made"
        assert made["u"] == 0
        assert node.running
        assert "Traceback" not in node.printed()


@pytest.mark.parametrize("end", [Node.stop, Node.kill], ids=["stopped", "killed"])
def test_a_node_that_ends_on_a_full_disk_has_lost_nothing(disk: Path, end: Callable[[Node], object]) -> None:
    with on(disk) as node:
        with Raw(node.port) as link:
            link.ask(frames.create_topics({"t": 1}))
            ballast = fill(disk, leave=1 << 20)
            acknowledged = until_refused(link)
        end(node)
        ballast.unlink()
        node.start()

        with Raw(node.port) as link:
            assert written(link) == len(acknowledged)
            assert produce(link, 0) == (0, len(acknowledged))
        assert "Traceback" not in node.printed()


def test_a_start_on_a_full_disk_is_refused_in_one_line_and_works_when_there_is_room(disk: Path) -> None:
    node = on(disk).start()
    node.kill()
    ballast = fill(disk)
    before = node.printed()

    with pytest.raises(DidNotStart):
        node.start()
    printed = node.printed().removeprefix(before)
    ballast.unlink()

    assert node.exit_code() == 1
    assert "no space left on device" in printed.lower()
    assert len(printed.splitlines()) == 1
    with node.start():
        pass


def test_a_read_only_file_system_is_refused_in_one_line(disk: Path) -> None:
    node = on(disk).start()
    assert node.stop() == 0
    node.log = disk.parent / "printed again.log"
    if problem := run("mount", "-o", "remount,ro", disk):
        pytest.skip(f"it cannot be made read-only: {problem}")

    with pytest.raises(DidNotStart):
        node.start()

    assert node.exit_code() == 1
    [line] = node.printed().splitlines()
    assert line == f"andiron: cannot use the data directory {node.data}: read-only file system"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.data.mkdir(mode=0o555)

    with pytest.raises(DidNotStart):
        node.start()

    assert node.exit_code() == 1
    [line] = node.printed().splitlines()
    assert line.startswith(f"andiron: cannot use the data directory {node.data}: ")
