"""The load generator in C: built when it is first needed, started, and what it says read.

    with begin("produce", port=…, topic="t", connections=4) as load:     all connections stand
        before = usage.cpu_seconds(broker)
        found = load.go()                                                the load itself
        used = usage.cpu_seconds(broker) - before                        theirs alone, without the connecting

What it can do is at the top of generator.c. A load in Python (loads/) takes more CPU for a small request than a
broker does, and so answers how fast Python is. This one says in `core` how much of a core it had; a row for which it
took more than `TOO_MUCH` is marked, since it may be the generator's.

It is built by `cc` into .cache/, again when its source has changed. Where there is no compiler `build` raises
NoCompiler, and whoever compares says that the rows are missing, and why.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache"
FLAGS = ["-O2", "-std=gnu11", "-Wall", "-Wextra"]
TOO_MUCH = 0.8  # of a core
MB = 1 << 20


class NoCompiler(Exception):
    """There is no C compiler here, or it could not build the generator; the message says which."""


@dataclass(frozen=True)
class Found:
    """What a load found: counts, seconds, and latencies in microseconds."""

    requests: int
    records: int
    bytes: int
    seconds: float
    latency: dict[str, float]
    cpu: float  # the generator's own
    lost: int  # of the idle connections

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def mb_s(self) -> float:
        return self.bytes / MB / self.seconds

    @property
    def core(self) -> float:
        """How much of a core the generator took."""
        return self.cpu / self.seconds

    @property
    def was_the_limit(self) -> bool:
        """Whether it took so much that the figure may be its own, and not the broker's."""
        return self.core > TOO_MUCH


def read(line: str) -> Found:
    """The line that a load ends with."""
    said = json.loads(line)
    latency = {share: said[share] for share in ("p50", "p99", "p99.9")}
    kept = {name: said[name] for name in ("requests", "records", "bytes", "seconds", "cpu", "lost")}
    return Found(latency=latency, **kept)


def build() -> Path:
    """The program; compiled if this source has not been."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise NoCompiler("there is no C compiler (cc)")
    sources = sorted(HERE.glob("*.[ch]"))
    mark = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    program = CACHE / f"generator-{mark}"
    if not program.exists():
        CACHE.mkdir(exist_ok=True)
        unfinished = CACHE / f"generator-{mark}.{os.getpid()}"  # another process may be building it too
        code = [str(source) for source in sources if source.suffix == ".c"]
        told = subprocess.run(
            [compiler, *FLAGS, "-o", str(unfinished), *code], capture_output=True, text=True, check=False
        )
        if told.returncode:
            raise NoCompiler(f"{compiler} could not build the generator: {told.stderr[:500]}")
        unfinished.rename(program)
    return program


def begin(mode: str, **wanted: float | str) -> Load:
    """Start a load, and wait until its connections stand. Modes and names are at the top of generator.c."""
    return Load([str(build()), mode, "wait=1", *(f"{name}={value}" for name, value in wanted.items())])


def run(mode: str, **wanted: float | str) -> Found:
    """A load from its beginning to its end."""
    with begin(mode, **wanted) as load:
        return load.go()


class Load:
    """A generator that runs, and does not outlive whoever started it."""

    def __init__(self, command: list[str]) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, **pipes)
        assert self._process.stdout
        if self._process.stdout.readline() != "connected\n":
            self._failed()

    def go(self) -> Found:
        """Let it begin; return when it has ended."""
        printed, _ = self._process.communicate("\n")
        if self._process.returncode:
            self._failed()
        return read(printed)

    def _failed(self) -> None:
        raise RuntimeError(f"the load {self._process.args!r} failed; it said why")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
