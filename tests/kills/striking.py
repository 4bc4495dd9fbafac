"""What a process does when it reaches a step: if that is the one that is due, somebody dies."""

from __future__ import annotations

import os
import signal
import time

from kills.cells import Plan

FOLDER = "ANDIRON_KILLS"  # where the plan is
ROOT = "ANDIRON_KILLS_DRIVER"  # the process id of the driver


def strike(step: str, batch: int) -> None:
    """Kill whoever is to die at this step, if it is his turn."""
    folder = os.environ[FOLDER]
    kill = Plan(folder).claim(step, batch, _read(f"{folder}/job"))
    if kill is None:
        return
    if kill.who in ("broker", "outage"):
        _kill_broker(int(_read(f"{folder}/broker.pid")))
        return
    if kill.who == "driver":
        for each in _ancestors():
            os.kill(each, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_broker(pid: int) -> None:
    """It is dead when this returns, so that what comes next finds nobody."""
    os.kill(pid, signal.SIGKILL)
    while os.path.exists(f"/proc/{pid}") and _status(pid)[0] != "Z":
        time.sleep(0.005)


def _ancestors() -> list[int]:
    """The JVM first: it would clean up if it saw its driver go."""
    root = int(os.environ[ROOT])
    found = []
    pid = os.getpid()
    while pid != root:
        pid = int(_status(pid)[1])
        found.append(pid)
    return sorted(found, key=lambda each: not _read(f"/proc/{each}/comm").startswith("java"))


def _status(pid: int) -> list[str]:
    """State, parent, …"""
    return _read(f"/proc/{pid}/stat").rpartition(") ")[2].split()


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
