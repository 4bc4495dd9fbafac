"""A Python worker of Spark's, made to cost less between its tasks and to end without a complaint.

    task ─▶ gc.collect() ─▶ task ─▶ gc.collect() ─▶ …        pyspark/daemon.py, where workers are used again

Spark walks through all objects of the process after every task. With pyspark, pyarrow and numpy loaded these are some
hundred thousand, and take it longer (45 ms were measured) than a small task takes altogether. Nearly all of them stay
until the process ends; so once a first task has loaded them, they are put aside where the walk does not go.

    session stops ─▶ the JVM hangs up on workers that wait for a task ─▶ "end of file", told to nobody ─▶ Broken pipe

Each of them takes the end of its socket for an error, and reports that to the JVM which has gone. Over TCP the report
is lost in silence; over Unix domain sockets, which our sessions use, every stop leaves a traceback of each in the log.
"""

from __future__ import annotations

import gc
import os
import select
from collections.abc import Callable
from typing import BinaryIO

Main = Callable[[BinaryIO, BinaryIO], None]

_tasks: dict[str, int] = {}  # begun in this process, by what they do


def begin_task(kind: str) -> None:
    """Say that a task begins. The second of its kind finds everything loaded, and the first one's garbage gone."""
    _tasks[kind] = _tasks.get(kind, 0) + 1
    if _tasks[kind] == 2:
        gc.freeze()


def quiet_at_the_end(main: Main) -> Main:
    """A worker's `main`, of which nothing is sent any more once Spark has hung up."""

    def run(asked: BinaryIO, told: BinaryIO) -> None:
        try:
            main(asked, told)
        finally:
            if _is_hung_up(told.fileno()):
                with open(os.devnull, "wb") as nowhere:
                    os.dup2(nowhere.fileno(), told.fileno())

    return run


def _is_hung_up(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))
