"""Metrics of the process: which build it is, how long it runs, what it uses, and whether it has met a bug.

Those that every process has go by the names that Prometheus' own libraries use.
"""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Iterator

from andiron import __version__
from andiron.broker.telemetry.census import census
from andiron.edge.metrics.families import COUNTER, GAUGE, Family, Sample, counter, gauge, single
from andiron.edge.metrics.survey import Survey
from andiron.edge.metrics.text import labelled

_STATM = "/proc/self/statm"
_STARTED = time.time()


def _build(survey: Survey) -> list[Sample]:
    settings = survey.broker.settings
    labels = labelled(
        version=__version__,
        python=platform.python_version(),
        cluster_id=survey.broker.cluster_id,
        node_id=settings.node_id,
        roles=",".join(settings.roles),
    )
    return [(labels, 1)]


def cpu_seconds() -> float:
    """What the process has used, in and out of the system's calls."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_bytes() -> int:
    """Its memory now; where the system does not tell, the most it ever had."""
    try:
        with open(_STATM, "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _kept(survey: Survey) -> Iterator[Sample]:
    return ((labelled(table=each.table), each.entries) for each in census(survey.broker))


def _free(survey: Survey) -> Iterator[Sample]:
    return ((labels, room.f_bavail * room.f_frsize) for labels, room in _rooms(survey))


def _sizes(survey: Survey) -> Iterator[Sample]:
    return ((labels, room.f_blocks * room.f_frsize) for labels, room in _rooms(survey))


def _rooms(survey: Survey) -> Iterator[tuple[str, os.statvfs_result]]:
    """The file system of each log directory; of one that is gone there is nothing to tell."""
    for directory in survey.broker.settings.log_dirs:
        try:
            yield labelled(directory=directory), os.statvfs(directory)
        except OSError:
            continue


FAMILIES = [
    gauge(
        "build_info", "1, with what runs here as labels.", "kafka.server:type=app-info,id=…",
        _build, "version", "python", "cluster_id", "node_id", "roles",
    ),
    gauge(
        "uptime_seconds", "How long the node has been running.",
        "", lambda s: single(s.host.meter.uptime_s),
    ),
    counter(
        "stood_still_seconds_total",
        "Time in which the node was not scheduled, or at one thing only, in pauses of more than half a second.",
        "", lambda s: single(s.host.stood_still_s),
    ),
    gauge(
        "kept_entries", "What the node keeps in mind, by table: it follows what there is, not what has happened.",
        "", _kept, "table",
    ),
    counter(
        "internal_failures_total", "Bugs that showed themselves; the log has a traceback of each.",
        "", lambda s: single(s.host.failures + s.node.failures),
    ),
    gauge(
        "log_dir_free_bytes", "Room left in the file system of a log directory.", "", _free, "directory",
    ),
    gauge(
        "log_dir_total_bytes", "Size of that file system.", "", _sizes, "directory",
    ),
    Family(
        "process_cpu_seconds_total", COUNTER, "CPU time of the process.", "",
        lambda s: single(cpu_seconds()),
    ),
    Family(
        "process_resident_memory_bytes", GAUGE, "Memory of the process; the page cache is not among it.", "",
        lambda s: single(resident_bytes()),
    ),
    Family(
        "process_start_time_seconds", GAUGE, "When the process was started, in seconds since 1970.", "",
        lambda s: single(_STARTED),
    ),
]  # fmt: skip
