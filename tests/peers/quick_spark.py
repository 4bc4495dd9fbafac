"""Spark as the tests start it, in this process and in those they start: quick to come up rather than quick to run.

a Java that compiles less       a third of a start
classes out of an archive       another third: `make test` has it made once (andiron pipeline warm). Java takes it only
                                where the class path begins as it did then, so no SPARK_CONF_DIR may come first
temporary folders in one place  what is killed leaves its own behind; this one goes with the process that made it
"""

from __future__ import annotations

import functools
import os
import tempfile

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def use_quick_spark() -> None:
    """From here on; whoever has options of his own keeps them."""
    os.environ.setdefault("SPARK_SUBMIT_OPTS", f"{JAVA_OPTIONS} -Djava.io.tmpdir={scratch()}")


def scratch() -> str:
    """Where what is started here keeps its temporary folders: with a short name, since sockets are among them."""
    return _made().name


@functools.cache
def _made() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="andiron-tests-", ignore_cleanup_errors=True)
