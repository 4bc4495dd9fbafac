"""A node beside the pipeline, for those who have none: `andiron up` in a process of its own.

It is started if nobody answers at the address, and stopped when the pipeline has ended. A node that was there
before is used and left alone. The process is in a session of its own, so that Ctrl-C reaches the pipeline
first, which still needs the node to finish its batch.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.core.addresses import parse_addresses
from andiron.model.errors import ProtocolError
from andiron.spark.pipeline.errors import PipelineError

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0
LOCAL = ("localhost", "127.0.0.1", "::1")


def cluster_id(bootstrap: str) -> str:
    """Which cluster answers at an address; BROKER_NOT_AVAILABLE if none does."""
    with Client(bootstrap) as client:
        return Admin(client).cluster().id


@contextlib.contextmanager
def embedded_node(bootstrap: str, data: str, log: str) -> Iterator[bool]:
    """A node at this address, its records in `data`; whether it was started here."""
    try:
        cluster_id(bootstrap)
    except ProtocolError:
        pass
    else:
        yield False
        return
    process = _start(bootstrap, data, log)
    try:
        _await(process, bootstrap, log)
        yield True
    finally:
        _stop(process)


def _start(bootstrap: str, data: str, log: str) -> subprocess.Popen[bytes]:
    address = parse_addresses(bootstrap)[0]
    if address.host not in LOCAL:
        raise PipelineError(f"no node can be started at {bootstrap}: {address.host} is not this machine")
    where = ["--host", address.host, "--port", str(address.port), "--controller-port", "0", "--data", data]
    os.makedirs(os.path.dirname(log), exist_ok=True)
    with open(log, "ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "andiron", "up", "--quiet", *where],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _await(process: subprocess.Popen[bytes], bootstrap: str, log: str) -> None:
    until = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            cluster_id(bootstrap)
        except ProtocolError as error:
            if process.poll() is not None:
                raise PipelineError(f"the node ended as it was started: {_last_line(log)}") from error
            if time.monotonic() > until:
                raise PipelineError(f"the node does not answer; {log} has what it said") from error
            time.sleep(0.05)
        else:
            return


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_line(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return lines[-1] if lines else "without a word"
