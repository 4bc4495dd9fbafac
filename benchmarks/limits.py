"""What can this machine do at all? The ceilings that no broker passes.

memory      copy 64 MB from here to there
loopback    one process sends, another receives and throws away, 64 KB and 1 MB at a time
echo        one small message there and back between two processes: half of what a record's way costs
page cache  write a file 1 MB at a time, nothing synced
fsync       16 KB appended and synced, again and again
python      start an interpreter that does nothing
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MB = 1 << 20


def measure(folder: str, seconds: float) -> dict[str, float]:
    """All limits, each in about `seconds`."""
    return {
        "memory MB/s": memory(seconds),
        "loopback MB/s": loopback(seconds, MB),
        "loopback 64 KB MB/s": loopback(seconds, 64 << 10),
        "echo us": echo(seconds),
        "page cache MB/s": page_cache(folder, seconds),
        "fsync us": fsync(folder, seconds),
        "python start s": python_start(),
    }


def memory(seconds: float) -> float:
    source, target = bytearray(64 * MB), bytearray(64 * MB)
    done, until, started = 0, time.perf_counter() + seconds, time.perf_counter()
    while time.perf_counter() < until:
        target[:] = source
        done += 64
    return done / (time.perf_counter() - started)


def loopback(seconds: float, size: int) -> float:
    here, process = _partner(_swallow)
    piece, done = bytes(size), 0
    started = time.perf_counter()
    while time.perf_counter() < started + seconds:
        here.sendall(piece)
        done += size
    here.shutdown(socket.SHUT_WR)
    here.recv(1)  # all has been taken
    elapsed = time.perf_counter() - started
    process.join()
    return done / MB / elapsed


def echo(seconds: float) -> float:
    """Median round trip in microseconds."""
    here, process = _partner(_echo)
    times, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        here.sendall(bytes(150))
        here.recv(4096)
        times.append(time.perf_counter() - started)
    here.close()
    process.join()
    return statistics.median(times) * 1e6


def page_cache(folder: str, seconds: float) -> float:
    piece, done = bytes(MB), 0
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        started = time.perf_counter()
        while time.perf_counter() < started + seconds and done < 4096:
            file.write(piece)
            done += 1
        return done / (time.perf_counter() - started)


def fsync(folder: str, seconds: float) -> float:
    """Median microseconds."""
    times = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            file.write(bytes(16 << 10))
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6


def unthrottled_mb() -> int:
    """How much may be written before the kernel writes it back by itself, which would then be part of the figure.

    It begins at a share of the memory that is free (vm.dirty_background_ratio); half of that is kept clear of it.
    """
    memory = Path("/proc/meminfo").read_text().splitlines()
    free_kb = next(int(line.split()[1]) for line in memory if line.startswith("MemAvailable"))
    vm = Path("/proc/sys/vm")
    in_bytes = int((vm / "dirty_background_bytes").read_text())
    share = int((vm / "dirty_background_ratio").read_text()) / 100
    return (in_bytes or int(free_kb * 1024 * share)) // 2 // MB


def python_start() -> float:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _partner(act: Callable[[int], None]) -> tuple[socket.socket, multiprocessing.Process]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = multiprocessing.Process(target=act, args=(listener.getsockname()[1],), daemon=True)
        process.start()
        link, _ = listener.accept()
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link, process


def _swallow(port: int) -> None:
    buffer = bytearray(MB)
    with socket.create_connection(("127.0.0.1", port)) as link:
        while link.recv_into(buffer):
            pass
        link.sendall(b".")


def _echo(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := link.recv(4096):
            link.sendall(data)


if __name__ == "__main__":
    for name, figure in measure(str(Path(tempfile.gettempdir())), 1.0).items():
        print(f"{name:22} {figure:12.3f}")
