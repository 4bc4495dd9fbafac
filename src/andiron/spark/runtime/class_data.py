"""Spark's classes as Java wants them in memory, kept from one start to the next: class-data sharing (CDS).

    a run that records ──-XX:ArchiveClassesAtExit──▶ <cache>/classes-<hash>.jsa
    every later start  ◀──-XX:SharedArchiveFile──────────┘

A session with a stream in it loads some fifteen thousand classes out of two hundred jars, and unpacking and checking
them is most of what Java does in its first ten seconds. From an archive they are mapped. `andiron pipeline warm`
makes one; whoever starts a session uses it if it is there.

The archive is of one Java and one Spark, which its name says. The JVM itself checks the rest (the jars, their times,
its own version) and does without the archive where something is not as it was: a stale one costs time, nothing else.
"""

from __future__ import annotations

import hashlib
import os

import pyspark

from andiron.spark.runtime.cache import cache_folder

OPTIONS = "spark.driver.extraJavaOptions"
USE = "-XX:SharedArchiveFile={} -Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
RECORD = "-XX:ArchiveClassesAtExit={}"


def archive_of(java_home: str) -> str:
    """Where the archive for this Java and this Spark is, or would be."""
    spark = os.path.dirname(os.path.abspath(pyspark.__file__))
    named = f"{os.path.realpath(java_home)} {spark} {pyspark.__version__}"
    return os.path.join(cache_folder(), f"classes-{hashlib.sha256(named.encode()).hexdigest()[:16]}.jsa")


def with_archive(options: str, java_home: str) -> str:
    """Java's options with the archive, where there is one and they do not name, or record, another."""
    archive = archive_of(java_home)
    if "ArchiveClassesAtExit" in options or "SharedArchiveFile" in options or not os.path.isfile(archive):
        return options
    return f"{options} {USE.format(archive)}".strip()
