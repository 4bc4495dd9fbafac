"""How a node's process ends: in order at the first signal, at once at the second."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edge.playground import framed

TESTS = Path(__file__).parents[1]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process, and its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "edge.serving", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])},
    )
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def ask(link: socket.socket, text: bytes) -> bytes:
    link.sendall(framed(text))
    return answer(link)


def answer(link: socket.socket) -> bytes:
    size = struct.unpack(">i", link.recv(4, socket.MSG_WAITALL))[0]
    return link.recv(size, socket.MSG_WAITALL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_node_in_order(tmp_path, number):
    with serving(tmp_path) as (process, port), socket.create_connection(("127.0.0.1", port)) as link:
        assert ask(link, b"echo:hello") == b"hello"
        process.send_signal(number)
        assert process.wait(30) == 0
        assert link.recv(10) == b""
    assert (tmp_path / "stopped").read_text() == "1"


def test_a_signal_under_load_answers_what_was_taken(tmp_path):
    """Clients ask for flushes without a pause, until they are cut off between two answers."""
    answered: list[int] = []

    def load(port: int) -> None:
        count = 0
        with socket.create_connection(("127.0.0.1", port)) as link:
            try:
                while ask(link, b"flush:%d" % count) == b"%d" % count:
                    count += 1
            except (OSError, struct.error):  # closed between two answers
                pass
        answered.append(count)

    with serving(tmp_path) as (process, port):
        clients = [threading.Thread(target=load, args=(port,)) for _ in range(8)]
        for client in clients:
            client.start()
        with socket.create_connection(("127.0.0.1", port)) as link:
            for _ in range(50):
                ask(link, b"echo:x")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        for client in clients:
            client.join()
    taken = int((tmp_path / "stopped").read_text()) - 50
    assert sum(answered) == taken, "whatever was taken was answered"


def test_a_second_signal_ends_it_at_once(tmp_path):
    (tmp_path / "slow").touch()
    with serving(tmp_path) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None and process.stdout.readline() == "stopping\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 128 + signal.SIGINT
    assert not (tmp_path / "stopped").exists()


def test_a_killed_node_leaves_its_port_free(tmp_path):
    with serving(tmp_path) as (process, port):
        process.kill()
        process.wait(30)
        socket.create_server(("127.0.0.1", port)).close()
