"""`andiron up --log-format json`: what a process writes from its start to its end is one object a line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from cli.conftest import command
from peers.ports import free_port


def objects(text: str) -> list[dict[str, Any]]:
    """Every line of it, whichever it is."""
    return [json.loads(line) for line in text.splitlines()]


def told(process: subprocess.Popen[str], message: str) -> dict[str, Any]:
    """The first line with this message, which ends the wait for it."""
    assert process.stdout is not None
    for line in process.stdout:
        found: dict[str, Any] = json.loads(line)
        if found["message"] == message:
            return found
    raise AssertionError(f"{message!r} was never said")


def test_every_line_of_a_node_is_an_object(tmp_path: Path) -> None:
    port = free_port()
    options = ["--data", tmp_path / "data", "--port", port, "--controller-port", 0, "--log-format", "json"]
    with subprocess.Popen(
        command("up", *options, "--set", "num.io.threads=3"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        try:
            vain, serves = told(process, "Settings of the file have no effect"), told(process, "Node serves")
            process.send_signal(signal.SIGTERM)
            rest = objects(process.communicate(timeout=60)[0])
        finally:
            process.kill()

    assert vain["level"] == "WARNING" and "num.io.threads" in vain["reason"]
    assert serves["logger"] == "andiron.cli.up" and serves["node"] == 1
    assert serves["address"] == f"localhost:{port}" and serves["dirs"] == [str(tmp_path / "data")]
    assert rest[-1]["message"] == "Node has stopped; everything is on the disk"
    assert all({"ts", "level", "logger", "node", "message"} <= each.keys() for each in [vain, serves, *rest])


def test_why_a_node_does_not_start_is_an_object_too(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    environment = {**os.environ, "ANDIRON_LOG_FORMAT": "json"}
    done = subprocess.run(
        command("up", "--data", tmp_path / "data", "--port", free_port(), "--controller-port", 0),
        capture_output=True, text=True, check=False, timeout=60, env=environment,
    )  # fmt: skip

    [line] = objects(done.stdout + done.stderr)
    assert done.returncode == 1
    assert (line["level"], line["message"]) == ("ERROR", "Node does not start")
    assert "data" in line["error"]


def test_each_node_of_a_local_cluster_writes_so(tmp_path: Path) -> None:
    options = ["--brokers", 1, "--data", tmp_path / "c", "--port", free_port(), "--log-format", "json"]
    log = tmp_path / "c" / "node-1" / "andiron.log"
    with subprocess.Popen(
        command("up", *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until = time.monotonic() + 60
            while not (log.exists() and "Node serves" in log.read_text()):
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        finally:
            process.kill()

    assert objects(log.read_text())[-1]["message"] == "Node has stopped; everything is on the disk"
