"""A terminal of its own for `andiron up`: started, waited for until it serves, stopped as Ctrl-C does.

serving.py PORT up …    what bash calls for `andiron up …`; returns when it serves, and leaves it running
serving.py stop         all of them, in order; fails if one of them did not end well
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE_S = 60.0
SERVES = (" serves ", " nodes serve ")


def servers() -> Path:
    """The folder that knows them: a file for each, called by its process, with what it prints."""
    return Path(os.environ["PATH"].split(":")[0]).parent / "servers"


def start(port: str, arguments: list[str]) -> int:
    """Start one, and return when it serves."""
    if "--config" not in arguments:
        if code := stop():
            return code
        if "--port" not in arguments:
            arguments = [*arguments, "--port", port]
    log = servers() / "starting"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "andiron", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    log = log.rename(servers() / str(process.pid))
    until = time.monotonic() + PATIENCE_S
    while not any(words in log.read_text(errors="replace") for words in SERVES):
        if process.poll() is not None or time.monotonic() > until:
            print(log.read_text(errors="replace"), file=sys.stderr)
            log.unlink()
            return process.poll() or 1
        time.sleep(0.02)
    return 0


def stop() -> int:
    """Stop all that run, the last one first."""
    code = 0
    for log in sorted(servers().iterdir(), key=lambda each: -each.stat().st_ctime):
        number = int(log.name)
        if _runs(number):
            os.kill(number, signal.SIGINT)
            until = time.monotonic() + PATIENCE_S
            while _runs(number):
                if time.monotonic() > until:
                    os.killpg(number, signal.SIGKILL)
                time.sleep(0.02)
            told = log.read_text(errors="replace")
            if "stopped" not in told:
                print(f"did not stop in order:\n{told[-4000:]}", file=sys.stderr)
                code = 1
        log.unlink()
    return code


def _runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    port, *rest = sys.argv[1:]
    sys.exit(stop() if port == "stop" else start(port, rest))
