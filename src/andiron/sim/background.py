"""What a node has done off its loop: fsyncs and jobs, which take a while and may be lost with it.

    Flush ─▶ a while ─▶ the disk ─▶ Flushed        Work ─▶ a while ─▶ job.run ─▶ a while ─▶ Finished

A flush brings to the disk what the files held when it was asked for, and not what was added since. A job goes through
pickle, as it does between processes, and works at some moment between being asked for and being reported: what the
node does before and after that moment, it does not know of. Now and then the worker process dies in the midst of one.

Read next: host.py.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from andiron.model.effects import Finished, Flushed, Work
from andiron.model.errors import AndironError
from andiron.model.ids import Millis
from andiron.sim.disk import Killed, MemoryFile
from andiron.sim.watcher import Violation

if TYPE_CHECKING:
    from andiron.sim.host import Host

Begun = list[tuple[MemoryFile, int]]

WORKER_DIES = 0.1  # in one job of ten


class Background:
    """The flushes and jobs of one host."""

    def __init__(self, host: Host) -> None:
        self._host, self._world, self._disk = host, host.world, host.disk
        self.flush_ms_max, self.job_ms_max = 5, 200
        self.flushing: dict[int, Begun] = {}

    def forget(self) -> None:
        """The node is gone for which all this was."""
        self.flushing.clear()

    def flush(self, token: int, files: tuple[MemoryFile, ...]) -> None:
        """Begin to bring these files to the disk."""
        self.flushing[token] = self._disk.begin_sync(files)
        life, delay_ms = self._host.life, self._world.chance.randint(0, self.flush_ms_max)
        self._host.note("flushes", f"{token}: {', '.join(file.path for file in files)}")
        self._world.after(delay_ms, lambda: self._host.if_still(life, lambda: self.flushed(token)))

    def flushed(self, token: int) -> None:
        """Now they are there, or cannot be."""
        if token not in self.flushing:
            return
        error = None
        try:
            self._disk.end_sync(self.flushing.pop(token))
        except OSError as problem:
            error = str(problem)
        except Killed:
            self._host.burn_down()
            return
        self._host.note("has flushed", f"{token} {error or ''}")
        self._host.feed(Flushed(token, error))

    def work(self, work: Work) -> None:
        """Have a job done, some time from now."""
        host, chance = self._host, self._world.chance
        host.note("works", f"{work.token}: {type(work.job).__name__}")
        pickled, life = pickle.dumps(work.job), host.life
        works_after = chance.randint(0, self.job_ms_max)
        reports_after = works_after + chance.randint(0, self.job_ms_max)
        began = self._world.now

        def run() -> None:
            finished = self._run(work.token, pickled)
            reports_at = Millis(began + reports_after)
            self._world.at(reports_at, lambda: host.if_still(life, lambda: host.feed(finished)))

        self._world.after(works_after, lambda: host.if_still(life, run))

    def _run(self, token: int, pickled: bytes) -> Finished:
        dies_early = self._disk.fuse is None and self._world.chance.random() < WORKER_DIES
        if dies_early:
            self._disk.fuse = self._world.chance.randint(0, 30)
        try:
            result = pickle.loads(pickled).run(self._disk)
            return Finished(token, pickle.loads(pickle.dumps(result)))
        except (OSError, AndironError) as error:
            return Finished(token, None, f"{type(error).__name__}: {error}")
        except Exception as error:
            raise Violation("a job does not fail", repr(error)) from error
        except Killed:
            if not dies_early:
                self._host.burn_down()
            return Finished(token, None, "the worker process is gone")
        finally:
            if dies_early:
                self._disk.fuse = None
