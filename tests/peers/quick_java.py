"""Java as the tests start it, quick to come up rather than quick to run: Kafka's servers, its tools and its clients.

    command(libs, "kafka.Kafka", "server.properties")   → what to start
    compiled(libs, folder)                              → the programs of a folder, as a jar

A machine that lives for seconds spends them on loading and checking classes and on compiling what it runs but once.
So it has the quick compiler alone, the simple collector, and an archive of Kafka's classes as Java wants them in memory
(class-data sharing): with these Kafka comes up in a third of the CPU time that its own options take.

    a rehearsal, once ──-XX:ArchiveClassesAtExit──▶ .cache/classes-<hash>.jsa
    every start       ◀──-XX:SharedArchiveFile──────────┘

The archive is made when it is first wanted, by one of the processes that want it while the others do without. It is
of one Java and one folder of jars; Java itself checks that these are as they were, and does without it if not.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from peers import jars
from peers.ports import free_port

OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.awt.headless=true")
QUIETLY = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")
SERVER_SOURCES = Path(__file__).with_name("java_server")
REHEARSAL_TIMEOUT_S = 180
# A node of Kafka's for the rehearsal.
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
"""


def command(
    libs: jars.Jars,
    main: str,
    *arguments: str,
    beside: Sequence[Path | str] = (),
    heap: str = "512m",
    options: Sequence[str] = (),
) -> list[str]:
    """The command that runs a class of these jars, or of what is `beside` them on the class path."""
    shared, classpath = list[str](), [libs.classpath]
    if archive := _archive(libs):
        shared = [f"-XX:SharedArchiveFile={archive}", *QUIETLY]
        classpath = _archived(libs)  # what it was made with comes first; the rest may differ
    classpath += map(str, beside)
    return [
        *(jars.java(), f"-Xmx{heap}", *OPTIONS, *shared, *options),
        *("-cp", ":".join(classpath), main, *arguments),
    ]


def compiled(libs: jars.Jars, folder: Path) -> Path:
    """The jar of a folder's programs; made anew when a source or Kafka's version changes."""
    sources = sorted(folder.glob("*.java"))
    digest = hashlib.sha256(str(libs.folder).encode())
    for source in sources:
        digest.update(source.read_bytes())
    jar = jars.CACHE / f"{folder.name}-{digest.hexdigest()[:16]}.jar"
    if not jar.exists():
        jars.CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=jars.CACHE) as scratch:
            _compile(sources, libs, f"{scratch}/classes")
            with zipfile.ZipFile(f"{scratch}/jar", "w") as packed:
                for each in sorted(Path(scratch, "classes").rglob("*.class")):
                    packed.write(each, each.relative_to(f"{scratch}/classes"))
            os.rename(f"{scratch}/jar", jar)
    return jar


def _compile(sources: list[Path], libs: jars.Jars, classes: str) -> None:
    beside = os.path.join(os.path.dirname(os.path.realpath(jars.java())), "javac")
    compiler = beside if os.path.exists(beside) else shutil.which("javac")
    if not compiler:
        raise jars.Missing("no Java compiler (javac is not on the PATH)")
    command = [compiler, "-nowarn", "-d", classes, "-cp", libs.classpath, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise jars.Missing(f"the Java programs do not compile: {done.stderr[:1500]}")


def _archived(libs: jars.Jars) -> list[str]:
    """The class path of the archive."""
    return [libs.classpath, str(compiled(libs, SERVER_SOURCES))]


@cache
def _archive(libs: jars.Jars) -> Path | None:
    """The archive for these jars; None where there is none, and none can be made here and now."""
    if not any(file.name.startswith("kafka-tools-") for file in libs.files):
        return None  # a client's jars alone
    named = hashlib.sha256(f"{os.path.realpath(jars.java())} {libs.folder}".encode())
    for source in sorted(SERVER_SOURCES.glob("*.java")):
        named.update(source.read_bytes())
    archive = jars.CACHE / f"classes-{named.hexdigest()[:16]}.jsa"
    if not archive.exists():
        with open(jars.CACHE / f"{archive.name}.lock", "w") as lock, contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not archive.exists():
                _rehearse(libs, archive)
    return archive if archive.exists() else None


def _rehearse(libs: jars.Jars, archive: Path) -> None:
    """Have one machine do what the tests' will; where it cannot, there is no archive, and that is all."""
    with tempfile.TemporaryDirectory(dir=jars.CACHE) as scratch:
        port, properties, made = free_port(), Path(scratch, "server.properties"), Path(scratch, "classes.jsa")
        properties.write_text(PROPERTIES.format(port=port, controller=free_port(), folder=scratch))
        record = [f"-XX:ArchiveClassesAtExit={made}", "-Dlog4j2.level=OFF", f"-Djava.io.tmpdir={scratch}"]
        start = [jars.java(), "-Xmx512m", *OPTIONS, *record, "-cp", ":".join(_archived(libs)), "Rehearsal"]
        with open(Path(scratch, "printed"), "wb") as printed, contextlib.suppress(subprocess.SubprocessError):
            subprocess.run(
                [*start, str(properties), f"127.0.0.1:{port}", f"{scratch}/data"],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                timeout=REHEARSAL_TIMEOUT_S,
                check=True,
            )
            os.rename(made, archive)
