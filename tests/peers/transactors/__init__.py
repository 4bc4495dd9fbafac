"""Transactional producers in processes of their own, a step at a time, so that any of them can be killed anywhere.

One program a client library, all driven alike by JSON lines. A step is a line in; out come the points it passes
and its answer. A test waits for a point, and kills, stops or goes on:

    {"step": "turn", …}    →    {"reached": "polled"}  {"reached": "sent"}  {"reached": "committing"}  {"result": 7}
                           or   {"error": 90, "name": "…", "message": "…"}

    open     a producer with a transactional id, initialized     begin · commit · abort
    send     values to a partition, awaited or not               offsets   of a group, not being a member
    join     a group, as a static member                         turn      poll, change, write, commit

Read next: driver.py, then program.py, which says what the Python programs share; Java's is java/Transacting.java.
"""

from __future__ import annotations

from peers.transactors.driver import LIBRARIES, Hung, Transactor, installed

__all__ = ["LIBRARIES", "Hung", "Transactor", "installed"]
