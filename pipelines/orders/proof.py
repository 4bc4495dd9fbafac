"""A million orders, a driver that is killed and a broker that is restarted on the way: then every cent is counted.

    python pipelines/orders/proof.py                      the whole of it, in a temporary folder
    python pipelines/orders/proof.py --orders 5000        a small one, as the tests have it
    python pipelines/orders/proof.py --brokers 3          on a cluster, and one of its nodes is killed with kill -9

    t ─▶  orders flow in ───────────────────────────────────────┤
          the pipeline runs ──── kill -9 │ again ───────────────────────────── lag 0 │ stop │ check
          the broker ────────────────────────────── stop, start ──────────────

The driver is killed with everything it started, in the middle of whatever it was doing, when a third is done; the
broker is restarted when two thirds are, or one of several killed. Neither is told beforehand. Orders do not flow in
further than a quarter of all ahead of the slowest reader, so that every reader is at work when it happens.

Read next: checking.py, on what is checked.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from checking import Finding, check
from feed import Feed
from job import Settings, prepare
from sample import Sample

from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.model.errors import ProtocolError
from andiron.model.settings import parse

CHUNK = 5_000
LOOK_EVERY_S = 0.3
STALL_S = 300.0  # without any progress
AHEAD = 0.25  # of all records


class Background:
    """A process of `andiron …`, in a group of its own."""

    def __init__(self, *arguments: str, log: str) -> None:
        self._command = [sys.executable, "-m", "andiron", *arguments]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, anew if it has ended."""
        with open(self._log, "ab") as out:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )

    def stop(self) -> int:
        """Ask it to end, and wait."""
        assert self._process is not None, "not started"
        self._process.terminate()
        return self._process.wait(180)

    def kill(self) -> None:
        """SIGKILL to it and to all that it started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def check(self) -> None:
        """Raise if it has ended by itself."""
        if self._process is not None and self._process.poll() is not None:
            with open(self._log, encoding="utf-8", errors="replace") as file:
                last = file.read().strip().splitlines()[-5:]
            raise RuntimeError(f"{' '.join(self._command[2:5])} has ended: " + "\n".join(last))


def prove(
    sample: Sample,
    folder: str,
    chosen: dict[str, str],
    say: Callable[[str], None],
    brokers: int = 1,
    port: int | None = None,
) -> list[Finding]:
    """Do it all in a folder, with settings of the pipeline's; what was found of each output. The first broker is on
    `port`, or on one that is free."""
    port = port or _free_port(max(2, brokers))
    bootstrap = ",".join(f"localhost:{port + number}" for number in range(brokers))
    begun_s = time.monotonic()
    data = os.path.join(folder, "pipeline-data")
    given = {"watermark": "1 hour", **chosen}
    settings: Any = parse(Settings, {**given, "bootstrap": bootstrap, "data": os.path.join(data, "orders")})
    where = ("--port", str(port), "--data", os.path.join(folder, "data"))
    several = ("--brokers", str(brokers), "--restart") if brokers > 1 else ("--quiet",)
    node = Background("up", *several, *where, log=os.path.join(folder, "node.log"))
    sets = [part for name, value in given.items() for part in ("--set", f"{name}={value}")]
    run = ("pipeline", "run", "orders", "-b", bootstrap, "--data", data, *sets)
    driver = Background(*run, log=os.path.join(folder, "pipeline.log"))
    totals = sample.totals()
    records = totals.events + totals.malformed

    def tell(what: str) -> None:
        say(f"{time.monotonic() - begun_s:7.1f} s  {what}")

    with contextlib.ExitStack() as stack:
        stack.callback(node.kill)
        stack.callback(driver.kill)
        node.start()
        _await_broker(settings)
        feeding = Feeding(settings, sample)
        feeding.start()
        driver.start()
        tell(f"{sample.orders:,} orders ({records:,} records, {totals.malformed:,} malformed) begin to flow")
        watch = Watch(settings, driver, feeding, records)
        watch.until(records // 3)
        driver.kill()
        tell(f"the driver was killed; read: {watch.account()}")
        driver.start()
        watch.until(2 * records // 3)
        if brokers > 1:
            _kill_node(2, folder)
            tell(f"node 2 of {brokers} was killed; read: {watch.account()}")
        else:
            node.stop()
            node.start()
            tell(f"the broker was restarted; read: {watch.account()}")
        watch.until(records)
        tell("every reader is at the end of the topic")
        driver.stop()
        findings = [*check(settings, sample), _verify(settings)]
        tell("all outputs are checked")
        node.stop()
    return findings


class Watch:
    """How far the readers are, by what their groups have committed."""

    def __init__(self, settings: Settings, driver: Background, feeding: Feeding, records: int) -> None:
        self._settings = settings
        self._driver = driver
        self._feeding = feeding
        self._records = records
        self._read: dict[str, int] = {}

    def until(self, records: int) -> None:
        """Wait until the slowest reader has read so many."""
        moved_s, best = time.monotonic(), -1
        while best < records:
            self._driver.check()
            self._feeding.check()
            with contextlib.suppress(ProtocolError):  # while the broker is away
                self._look()
            slowest = min(self._read.values(), default=0)
            if slowest > best:
                moved_s, best = time.monotonic(), slowest
                self._feeding.allow(slowest / self._records + AHEAD)
            if time.monotonic() - moved_s > STALL_S:
                raise RuntimeError(f"nothing has moved for {STALL_S:.0f} s; read: {self.account()}")
            time.sleep(LOOK_EVERY_S)

    def account(self) -> str:
        """How far each was at the last look."""
        return ", ".join(f"{reader} {records:,}" for reader, records in self._read.items())

    def _look(self) -> None:
        settings = self._settings
        with Client(settings.bootstrap) as client:
            groups = GroupAdmin(client)
            for reader in settings.readers:
                committed = groups.committed(settings.group(reader))
                self._read[reader] = sum(each.offset for each in committed.values())


class Feeding(threading.Thread):
    """The sample on its way into the topic, as fast as it is allowed to go."""

    def __init__(self, settings: Settings, sample: Sample) -> None:
        super().__init__(daemon=True)
        self._feed = Feed(settings.bootstrap, settings.topic, sample)
        self._problem: Exception | None = None
        self._allowed = 0.0

    def allow(self, share: float) -> None:
        """Let so much of it flow, at most."""
        self._allowed = share

    def run(self) -> None:
        """Send all of it."""
        ticks = self._feed.sample.ticks
        try:
            while self._feed.sent < ticks:
                if self._feed.sent < self._allowed * ticks:
                    self._feed.send(min(CHUNK, ticks // 8))
                else:
                    time.sleep(LOOK_EVERY_S)
        except Exception as error:
            self._problem = error
        finally:
            self._feed.close()

    def check(self) -> None:
        """Raise what went wrong."""
        if self._problem is not None:
            raise self._problem


def _verify(settings: Settings) -> Finding:
    """The table beside its log, by the command that everybody has."""
    verify = ["table", "verify", settings.revenue_table, "-b", settings.bootstrap]
    done = subprocess.run(
        [sys.executable, "-m", "andiron", *verify], capture_output=True, text=True, check=False
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    account = said[-1] if said else "nothing was said"
    return Finding("table verify", account, f"exit code {done.returncode}" if done.returncode else "")


def _await_broker(settings: Settings) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            prepare(settings)
        except ProtocolError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _kill_node(number: int, folder: str) -> None:
    """kill -9 to one node of a cluster; whoever started it starts it again."""
    settings = os.path.join(folder, "data", f"node-{number}", "server.properties")
    found = subprocess.run(["pgrep", "-f", settings], capture_output=True, text=True, check=False)
    for pid in found.stdout.split():
        os.kill(int(pid), signal.SIGKILL)


def _free_port(count: int) -> int:
    """One that is free, with those above it, for now; below those that the system gives to outgoing connections, which
    would take it while the broker is down between two starts."""
    while True:
        first = random.SystemRandom().randrange(10_000, 20_000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for port in range(first, first + count):
                stack.enter_context(socket.socket()).bind(("localhost", port))
            return first


def main() -> int:
    """The proof, told as it goes; exit code 1 if an output is wrong."""
    options = argparse.ArgumentParser(
        description="Kill the orders pipeline on the way, and count every cent."
    )
    options.add_argument("--orders", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--brokers", type=int, default=1, help="several are a cluster, of which one is killed"
    )
    options.add_argument("--folder", help="where all of it is kept; a temporary folder otherwise")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the pipeline")
    given = options.parse_args()
    chosen = dict(each.split("=", 1) for each in given.set)
    with contextlib.ExitStack() as stack:
        folder = given.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="orders-proof-"))
        os.makedirs(folder, exist_ok=True)
        findings = prove(
            Sample(given.seed, given.orders), os.path.abspath(folder), chosen, print_now, given.brokers
        )
    for finding in findings:
        print_now(str(finding))
    wrong = sum(bool(finding.problem) for finding in findings)
    print_now(f"{wrong} outputs are WRONG" if wrong else "every output is right, to the cent")
    return 1 if wrong else 0


def print_now(text: str) -> None:
    """For people who watch a pipe."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
