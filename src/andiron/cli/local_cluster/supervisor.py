"""The process that looks after the nodes of a local cluster: start, watch, stop in order.

    start all ──▶ every node is up ──▶ watch ──▶ a signal ──▶ stop one after the other ──▶ 0
       └─ one ends before: why, in one line; the others are stopped ──▶ 1 (was it killed, --restart holds here too)
                                     └─ one ends: its last lines; again after a pause if --restart says so

A stop is a rolling one: brokers first, then voters, the one that leads the quorum last, each after the one
before has ended. So leadership is handed on as long as there is somebody to hand it to, and the controller is
not elected anew at every step. A second signal kills all.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from andiron.cli.local_cluster.child import Child
from andiron.cli.local_cluster.status import Snapshot, Watcher
from andiron.cli.screen import Screen

TICK_S = 0.1
STOP_TIMEOUT_S = 60.0
KILL_TIMEOUT_S = 10.0
SLOW_START_S = 30.0
PAUSE_S, PAUSE_MAX_S = 1.0, 30.0
CLEAN = (0, -signal.SIGTERM)  # the latter: stopped before it had opened anything
STEADY_S = 60.0  # who has run so long is no longer failing again and again


class Supervisor:
    """Starts the nodes, watches them, restarts them if --restart says so, and stops them in order."""

    def __init__(
        self,
        children: Sequence[Child],
        watcher: Watcher,
        screen: Screen,
        *,
        voters: Sequence[int] = (),
        restart: bool = False,
        announce: Callable[[], None] = lambda: None,
    ) -> None:
        self._children = {child.id: child for child in children}
        self._watcher, self._screen = watcher, screen
        self._voters = frozenset(voters)
        self._restart, self._announce = restart, announce
        self._signals = 0
        self._last_signal: signal.Signals | None = None
        self._dead: set[int] = set()  # reported, and not started again
        self._pauses: dict[int, float] = {}
        self._due: dict[int, float] = {}  # when to start again
        self._since: dict[int, float] = {}
        self._controller: int | None = None

    def run(self) -> int:
        """Run the nodes until a signal comes or all have ended; returns the exit code."""
        before = {
            number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            for child in self._children.values():
                self._start(child)
            self._watcher.start()
            started = self._wait_until_up()
            if started and not self._signals:
                self._screen.clear()
                self._announce()
                self._watch()
            self._watcher.stop()
            clean = self._stop()
            return 0 if started and clean else 1
        finally:
            for child in self._children.values():
                child.kill()
                child.wait(KILL_TIMEOUT_S)
            for number, handler in before.items():
                signal.signal(number, handler)

    # ── start ────────────────────────────────────────────────────────────────────────

    def _start(self, child: Child) -> None:
        child.start()
        self._since[child.id] = time.monotonic()

    def _wait_until_up(self) -> bool:
        """Whether all nodes came up; a signal before that is a stop like any other."""
        slow = time.monotonic() + SLOW_START_S
        while not self._signals:
            for child in self._children.values():
                if child.running:
                    continue
                if child.was_killed and self._restart:
                    self._ended(child)
                else:
                    self._screen.clear()
                    self._screen.say(f"node {child.id} did not start: {child.reason()}")
                    return False
            snapshot = self._show()
            if snapshot is not None and snapshot.up >= self._children.keys():
                return True
            if time.monotonic() > slow:
                slow = float("inf")
                missing = self._children.keys() - (snapshot.up if snapshot else set())
                for each in sorted(missing):
                    self._screen.say(f"node {each} is not up yet; its log is {self._children[each].log}")
            time.sleep(TICK_S)
        return True

    # ── watch ────────────────────────────────────────────────────────────────────────

    def _watch(self) -> None:
        while not self._signals and len(self._dead) < len(self._children):
            for child in self._children.values():
                if not child.running and child.id not in self._dead:
                    self._ended(child)
            self._show()
            time.sleep(TICK_S)

    def _ended(self, child: Child) -> None:
        now = time.monotonic()
        if child.id in self._due:
            if now >= self._due[child.id]:
                del self._due[child.id]
                self._screen.say(f"node {child.id} is started again")
                self._start(child)
            return
        self._screen.say(f"node {child.id} ended with {child.ended_with}; its last lines ({child.log}):")
        self._screen.details(child.tail())
        if not self._restart:
            self._dead.add(child.id)
            return
        steady = now - self._since[child.id] > STEADY_S
        pause = PAUSE_S if steady else self._pauses.get(child.id, PAUSE_S)
        self._pauses[child.id] = min(PAUSE_MAX_S, 2 * pause)
        self._due[child.id] = now + pause

    def _show(self) -> Snapshot | None:
        snapshot = self._watcher.latest
        running = sorted(each.id for each in self._children.values() if each.running)
        if snapshot is None:
            self._screen.status(
                f"{len(running)} of {len(self._children)} processes run, and nobody answers yet"
            )
        else:
            if snapshot.controller is not None:
                self._controller = snapshot.controller
            alive = snapshot._replace(up=snapshot.up & frozenset(running))
            self._screen.status(alive.describe(list(self._children)), f" · {self._watcher.bootstrap}")
        return snapshot

    # ── stop ─────────────────────────────────────────────────────────────────────────

    def _stop(self) -> bool:
        """Whether all ended in order; those that had ended before count with how they did."""
        self._screen.clear()
        if self._last_signal is not None:
            self._screen.note(f"{self._last_signal.name}: the nodes are stopped one after the other")
        for child in self._stop_order():
            if not child.running:
                continue
            self._screen.note(f"stopping node {child.id}")
            child.terminate()
            if not self._wait(child):
                return False
        unclean = [child for child in self._children.values() if child.exit_code not in CLEAN]
        for child in unclean:
            self._screen.say(f"node {child.id} had ended with {child.ended_with}")
        return not unclean

    def _stop_order(self) -> list[Child]:
        def rank(child: Child) -> tuple[bool, bool, int]:
            return (child.id == self._controller, child.id in self._voters, -child.id)

        return sorted(self._children.values(), key=rank)

    def _wait(self, child: Child) -> bool:
        until = time.monotonic() + STOP_TIMEOUT_S
        while not child.wait(TICK_S):
            if self._signals > 1:
                self._screen.say("killed, as a second signal asked")
                return False
            if time.monotonic() > until:
                self._screen.say(f"node {child.id} did not stop in {STOP_TIMEOUT_S:.0f} s and is killed")
                child.kill()
        return True

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        self._last_signal = signal.Signals(number)
