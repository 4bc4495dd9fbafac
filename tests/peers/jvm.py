"""A Java client that takes commands: one virtual machine for a whole test session.

The programs in `java/` are compiled once into the cache and talk in JSON lines. Starting a virtual machine
costs more than most tests, so it is started at the first command and kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from peers import jars

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


def command() -> list[str]:
    """How a Peer.java is started."""
    libs = jars.client_jars()
    classpath = f"{compiled(libs)}:{libs.classpath}"
    # A quick start matters more than peak speed here, and the heap holds a few megabytes of records.
    options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.level=OFF"]
    return [jars.java(), *options, "-cp", classpath, "Peer"]


def compiled(libs: jars.Jars) -> Path:
    """The folder of compiled programs; made anew when a source or Kafka's version changes."""
    sources = sorted(SOURCES.glob("*.java"))
    digest = hashlib.sha256(str(libs.folder).encode())
    for source in sources:
        digest.update(source.read_bytes())
    folder = jars.CACHE / f"java-{digest.hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    jars.CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jars.CACHE) as scratch:
        classes = os.path.join(scratch, "classes")
        _compile(sources, libs, classes)
        try:
            os.rename(classes, folder)
        except OSError:  # another process was quicker; its result is the same
            if not folder.is_dir():
                raise
    return folder


def _compile(sources: list[Path], libs: jars.Jars, classes: str) -> None:
    beside = os.path.join(os.path.dirname(os.path.realpath(jars.java())), "javac")
    compiler = beside if os.path.exists(beside) else shutil.which("javac")
    if not compiler:
        raise jars.Missing("no Java compiler (javac is not on the PATH)")
    command = [compiler, "-nowarn", "-d", classes, "-cp", libs.classpath, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise jars.Missing(f"the Java peer does not compile: {done.stderr[:1500]}")
