"""Nodes that end, nodes that do not start, and the order in which they are stopped. The nodes are small programs."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from andiron.cli.local_cluster import supervisor as module
from andiron.cli.local_cluster.child import Child
from andiron.cli.local_cluster.status import Snapshot, Watcher
from andiron.cli.local_cluster.supervisor import Supervisor
from andiron.cli.screen import Screen

# Ends in order on SIGTERM, and says when.
NODE = """
import signal, sys, time
def end(number, frame):
    with open(sys.argv[1], "a") as file: print(sys.argv[2], file=file)
    raise SystemExit(0)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True: time.sleep(0.01)
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""
BROKEN = "print('andiron: the port is taken'); raise SystemExit(1)"


class Told(Watcher):
    """Asks nobody: a test says what the latest is."""

    def start(self) -> None:
        pass


class World:
    """A supervisor over small programs, and what it said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = io.StringIO()
        self.children: list[Child] = []
        self.watcher = Told("127.0.0.1:1", 0)
        self.announced = threading.Event()

    def node(self, id: int, program: str = NODE) -> Child:
        order = str(self.folder / "order")
        arguments = [sys.executable, "-c", program, order, str(id)]
        self.children.append(Child(id, arguments, str(self.folder / f"log-{id}")))
        return self.children[-1]

    def all_up(self, controller: int | None = None) -> None:
        ids = frozenset(each.id for each in self.children)
        self.watcher.latest = Snapshot(ids, controller, 0, 0, 0)

    def run(self, *then: Callable[[], None], restart: bool = False, voters: tuple[int, ...] = ()) -> int:
        """Run it; when all are ready, do one thing after the other from another thread."""

        def act() -> None:
            assert self.announced.wait(30)
            _until(lambda: all(child.tail() for child in self.children))
            for step in then:
                step()

        if then:
            threading.Thread(target=act, daemon=True).start()
        return Supervisor(
            self.children,
            self.watcher,
            Screen(self.said),
            voters=voters,
            restart=restart,
            announce=self.announced.set,
        ).run()

    def stopped(self) -> list[str]:
        return (self.folder / "order").read_text().split()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _until(holds: Callable[[], object]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_brokers_stop_before_voters_and_the_controller_last(world: World) -> None:
    for id in (1, 2, 3, 4, 5):
        world.node(id)
    world.all_up(controller=2)

    assert world.run(interrupt, voters=(1, 2, 3)) == 0
    assert world.stopped() == ["5", "4", "3", "1", "2"]
    assert "SIGINT: the nodes are stopped" in world.said.getvalue()


def test_a_node_that_does_not_start_stops_all_with_its_reason(world: World) -> None:
    world.node(1)
    world.node(2, BROKEN)

    assert world.run() == 1
    assert "node 2 did not start: the port is taken\n" in world.said.getvalue()
    assert not any(child.running for child in world.children)
    assert not world.announced.is_set()


def test_a_node_that_ends_later_is_told_with_its_last_lines_and_the_others_go_on(world: World) -> None:
    first, second = world.node(1), world.node(2)
    world.all_up()

    def check() -> None:
        _until(lambda: "node 2 ended with SIGKILL" in world.said.getvalue())
        assert first.running

    assert world.run(second.kill, check, interrupt) == 1
    assert "\n    ready\n" in world.said.getvalue()
    assert world.said.getvalue().endswith("andiron: node 2 had ended with SIGKILL\n")
    assert world.stopped() == ["1"]


def test_a_node_that_ended_is_started_again_if_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0.01)
    world.node(1)
    second = world.node(2)
    world.all_up()

    def again() -> None:
        _until(lambda: "node 2 is started again" in world.said.getvalue())
        _until(second.tail)

    assert world.run(second.kill, again, interrupt, restart=True) == 0
    assert sorted(world.stopped()) == ["1", "2"]


def test_a_node_killed_while_all_start_is_started_again_if_asked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_S", 0.01)
    world.node(1)
    second = world.node(2)

    def kill_and_go_on() -> None:
        _until(second.tail)
        second.kill()
        _until(lambda: "node 2 is started again" in world.said.getvalue())
        world.all_up()

    threading.Thread(target=kill_and_go_on, daemon=True).start()
    assert world.run(interrupt, restart=True) == 0
    assert sorted(world.stopped()) == ["1", "2"]


def test_a_node_killed_while_all_start_is_told_as_what_it_is(world: World) -> None:
    world.node(1)
    second = world.node(2)

    def kill() -> None:
        _until(second.tail)
        second.kill()

    threading.Thread(target=kill, daemon=True).start()
    assert world.run() == 1
    assert "node 2 did not start: it ended with SIGKILL\n" in world.said.getvalue()


def test_with_nobody_left_it_ends(world: World) -> None:
    only = world.node(1)
    world.all_up()

    assert world.run(only.kill) == 1


def test_a_second_signal_kills(world: World) -> None:
    world.node(1, DEAF)
    world.all_up()

    def again() -> None:
        _until(lambda: "stopping node 1" in world.said.getvalue())
        interrupt()

    assert world.run(interrupt, again) == 1
    assert not world.children[0].running


def test_a_node_that_does_not_stop_is_killed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_TIMEOUT_S", 0.2)
    world.node(1, DEAF)
    world.all_up()

    assert world.run(interrupt) == 1
    assert "node 1 did not stop" in world.said.getvalue()


def test_a_signal_during_the_start_is_a_stop_like_any_other(world: World) -> None:
    child = world.node(1)

    def stop_soon() -> None:
        _until(child.tail)
        interrupt()

    threading.Thread(target=stop_soon, daemon=True).start()
    assert world.run() == 0
    assert not world.announced.is_set()


def test_a_slow_start_is_remarked_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOW_START_S", 0.0)
    child = world.node(1)

    def stop_soon() -> None:
        _until(lambda: child.tail() and "node 1 is not up yet" in world.said.getvalue())
        interrupt()

    threading.Thread(target=stop_soon, daemon=True).start()
    assert world.run() == 0


def test_handlers_are_put_back(world: World) -> None:
    before = signal.getsignal(signal.SIGINT)
    world.node(1, BROKEN)
    world.run()

    assert signal.getsignal(signal.SIGINT) is before
