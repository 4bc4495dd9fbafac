"""A scripted node behind the real edge in a process of its own: python -m edge.serving FOLDER

Prints its port when it serves. Ends on signals as `andiron up` does, and leaves `stopped` in the folder if it
ended in order.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from andiron.edge import main
from andiron.edge.disk import PosixDisk
from andiron.edge.flusher import Flusher
from andiron.edge.host import Background, Host
from andiron.edge.listener import Listener
from andiron.edge.loop import Loop
from andiron.edge.worker import Worker
from edge.playground import SETTINGS
from edge.scripted import ScriptedNode


class StoppingNode(ScriptedNode):
    """Writes down that it was stopped; `slow` in the folder makes that wait for another signal."""

    def __init__(self, folder: Path) -> None:
        super().__init__(PosixDisk().open(f"{folder}/file"))
        self.file.append(b"0123456789")
        self._folder = folder

    def stop(self, now: int) -> bool:
        print("stopping", flush=True)
        while (self._folder / "slow").exists():
            time.sleep(0.02)  # not pause(): a signal that comes just before it would never end it
        (self._folder / "stopped").write_text(str(len(self.texts)))
        return True


def serve(folder: Path) -> None:
    loop = Loop()
    host = Host(StoppingNode(folder), SETTINGS, loop, Background(Flusher(loop.wake), Worker(loop.wake)))
    main.end_on_signals(host)
    listener = Listener("PLAINTEXT", "127.0.0.1", 0)
    host.start([listener])
    print(listener.port, flush=True)
    host.run()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
