"""SIGTERM in the middle of load: all that was acknowledged is there, and the next start trusts it."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from peers import frames
from peers.node import Node
from peers.raw import Closed, Raw

WRITERS = 4
NOT_LEADER_OR_FOLLOWER = 6
POLICIES = {"the system's": {}, "after each record": {"log.flush.interval.messages": "1"}}


class Writer(threading.Thread):
    """Writes to a partition of its own, one record after the other, until it is cut off."""

    def __init__(self, port: int, partition: int) -> None:
        super().__init__()
        self.partition, self.acknowledged = partition, 0
        self._link = Raw(port)
        self.under_way = threading.Event()

    def run(self) -> None:
        with self._link:
            try:
                while True:
                    records = frames.batch([b"%d" % self.acknowledged])
                    request = frames.produce("t", {self.partition: records}, acks=-1)
                    error, offset = frames.read_produce(self._link.ask(request))[self.partition]
                    if error == NOT_LEADER_OR_FOLLOWER:
                        return  # it leads nothing any more, and is about to go
                    assert (error, offset) == (0, self.acknowledged)
                    self.acknowledged += 1
                    if self.acknowledged == 50:
                        self.under_way.set()
            except (Closed, ConnectionError):
                pass


def count(link: Raw, partition: int) -> int:
    """How many batches can be read."""
    found = 0
    while records := link.fetch("t", found, partition, wait_ms=0):
        found += len(frames.batch_codecs(records))
    return found


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_loses_nothing_and_the_next_start_scans_nothing(
    tmp_path: Path, policy: dict[str, str], number: signal.Signals
) -> None:
    with Node(tmp_path / "node", settings=policy) as node:
        with Raw(node.port) as link:
            link.ask(frames.create_topics({"t": WRITERS}))
        writers = [Writer(node.port, partition) for partition in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            assert writer.under_way.wait(30)
        node.send_signal(number)
        for writer in writers:
            writer.join()
        assert node.wait() == 0
        assert (node.data / ".kafka_cleanshutdown").exists()

        before = node.printed()
        node.start()

        with Raw(node.port) as link:
            found = [count(link, writer.partition) for writer in writers]
        assert all(
            writer.acknowledged <= there <= writer.acknowledged + 1
            for writer, there in zip(writers, found, strict=True)
        )
        assert "recover" not in node.printed().removeprefix(before)
        assert "Traceback" not in node.printed()


def test_those_who_wait_are_no_obstacle(tmp_path: Path) -> None:
    with Node(tmp_path / "node") as node, Raw(node.port) as link:
        link.ask(frames.create_topics({"t": 1}))
        link.send(frames.fetch("t", {0: 0}, wait_ms=600_000))
        link.send(frames.frame(frames.API_VERSIONS, 0, b"", flexible=False)[:7])

        assert node.stop() == 0


def test_a_node_that_is_stopped_says_so(tmp_path: Path) -> None:
    with Node(tmp_path / "node") as node:
        node.stop()

    assert node.printed().splitlines()[-1] == "andiron: stopped; everything is on the disk"
