"""A Java client that takes commands: one virtual machine for a whole test session.

The programs in `java/` are compiled once into the cache and talk in JSON lines. Starting a virtual machine
costs more than most tests, so it is started at the first command and kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from peers import jars, quick_java

SOURCES = Path(__file__).with_name("java")


class JavaError(Exception):
    """What the Java client threw, with Kafka's number for it (-1 where it has none)."""

    def __init__(self, code: int, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.code = code
        self.name = name


class JavaPeer:
    """A running Peer.java."""

    def __init__(self) -> None:
        descriptor, self._errors = tempfile.mkstemp(prefix="java-peer-", suffix=".log")
        self._process = subprocess.Popen(
            command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=descriptor,
        )
        os.close(descriptor)

    def call(self, call: str, **fields: Any) -> Any:
        """Run one command; return its result or raise what it threw."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"call": call, **fields}).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise JavaError(-1, "Ended", f"the Java peer ended: {self._said()}")
        answer = json.loads(line)
        if "error" in answer:
            raise JavaError(answer["error"], answer["name"], answer["message"])
        return answer["result"]

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.unlink(self._errors)

    def _said(self) -> str:
        return Path(self._errors).read_text(errors="replace")[-2000:]


def command(program: str = "Peer") -> list[str]:
    """How one of the programs is started."""
    libs = jars.client_jars()
    return quick_java.command(libs, program, beside=[compiled(libs)], options=["-Dlog4j2.level=OFF"])


def compiled(libs: jars.Jars) -> Path:
    """The programs."""
    return quick_java.compiled(libs, SOURCES)
