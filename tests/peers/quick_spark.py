"""Spark as the tests start it, in this process and in those they start: quick to come up rather than quick to run."""

from __future__ import annotations

import os
from pathlib import Path

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def use_quick_spark() -> None:
    """From here on; whoever has a configuration of his own keeps it."""
    os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).with_name("spark_conf")))
    os.environ.setdefault("SPARK_DAEMON_JAVA_OPTS", JAVA_OPTIONS)  # masters and workers
