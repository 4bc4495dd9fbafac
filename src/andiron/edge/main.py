"""From settings to a running node, and from a signal to a clean end.

    settings ─▶ addresses taken ─▶ directories locked ─▶ node, host ─▶ ready ─▶ serve ─▶ 0
                  └──────────────────┴─ what stands in the way is one line on stderr, and 1

What can go wrong goes wrong before the logs are opened, as far as possible: a port in use
or a directory that another process has must not cost a recovery.

SIGTERM or SIGINT ends it with everything flushed; a second one ends it at once, as a crash
would, which the log is made to survive.

Read next: host.py.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from andiron.broker.node.node import Node
from andiron.broker.settings.node_settings import NodeSettings
from andiron.edge.carrier import Carrier
from andiron.edge.disk import PosixDisk
from andiron.edge.flusher import Flusher
from andiron.edge.host import Background, Host
from andiron.edge.listener import Listener
from andiron.edge.log_format import JSON, TEXT, write_log
from andiron.edge.loop import Loop
from andiron.edge.processors import are_possible
from andiron.edge.slow_disk import SlowDisk
from andiron.edge.worker import Worker
from andiron.log.directory import owners
from andiron.model.errors import AndironError
from andiron.model.line import Line

if TYPE_CHECKING:
    from andiron.edge.metrics.server import MetricsServer

# Loaded when asked for: a node that nobody watches starts without.
CATALOG, SERVER = "andiron.edge.metrics.catalog", "andiron.edge.metrics.server"
SPARE_DESCRIPTORS = 64  # for what is neither a log's file nor a connection

log = logging.getLogger(__name__)


class CannotStart(AndironError):
    """Something stands in the way that only the operator can remove."""


class Metrics(NamedTuple):
    """Who tells Prometheus, and where."""

    server: MetricsServer
    listener: Listener


class Assembly(NamedTuple):
    """A host that is ready to be started, with all it stands on."""

    host: Host
    listeners: list[Listener]
    disk: PosixDisk
    settings: NodeSettings  # with the ports that were really taken
    metrics: Metrics | None

    def start(self) -> None:
        """Open the logs, then the doors; that to the metrics first, which tell how it goes."""
        if self.metrics is not None:
            server, listener = self.metrics
            server.serve(listener, self.settings.broker)
            self.host.connections.on_sweep.append(server.sweep)
        self.host.start(self.listeners)

    def close(self) -> None:
        """After the end of `host.run`, or instead of it."""
        for listener in self.listeners:
            listener.close()
        if self.metrics is not None:
            server, listener = self.metrics
            listener.close()
            server.close()
        self.disk.close_all()
        self.host.loop.close()


def run(
    settings: NodeSettings,
    *,
    announce: Callable[[NodeSettings], None] = lambda settings: None,
    brake: str | None = None,
    log_format: str = TEXT,
    log_level: int = logging.INFO,
) -> int:
    """Run a node until a signal ends it; the exit code. `announce` is called when it serves.

    With a `brake` its disk can be made slow (slow_disk.py). A log for programs has the line in it that says why the
    node does not start; people read that as any command would say it.
    """
    write_log(log_format, settings.node_id, log_level)
    for notice in settings.notices:
        log.warning(Line("Settings of the file have no effect", reason=notice))
    try:
        assembly = _started(settings, brake)
    except (AndironError, OSError) as error:
        if log_format == JSON:
            log.error(Line("Node does not start", error=error))
        else:
            print(f"andiron: {error}", file=sys.stderr)
        return 1
    with contextlib.closing(assembly):
        if not assembly.host.is_stopping:
            announce(assembly.settings)
        clean = assembly.host.run()
        signal.set_wakeup_fd(-1)  # its number may soon be another file's
    return 0 if clean else 1


def _started(settings: NodeSettings, brake: str | None) -> Assembly:
    """What is made here stays, so the collector need not look through it, not now and not later."""
    gc.disable()
    try:
        assembly = assemble(settings, brake=brake)
        try:
            end_on_signals(assembly.host)
            assembly.start()
        except BaseException:
            assembly.close()
            raise
        gc.freeze()
        return assembly
    finally:
        gc.enable()


def assemble(settings: NodeSettings, *, brake: str | None = None) -> Assembly:
    """Take the addresses and the directories, and put a node between them."""
    descriptors = _raise_descriptor_limit()
    with contextlib.ExitStack() as undo:
        named = [*settings.listeners, *([settings.metrics_listener] if settings.metrics_listener else [])]
        taken = [undo.enter_context(contextlib.closing(Listener(*each))) for each in named]
        listeners, for_metrics = taken[: len(settings.listeners)], taken[len(settings.listeners) :]
        settings = _with_real_ports(settings, taken)
        disk, sync = _disk(settings, brake, descriptors // 2)
        undo.callback(disk.close_all)
        _take_directories(settings, disk)
        node = Node(settings, disk, seed=int.from_bytes(os.urandom(8), "big"))
        undo.pop_all()
    loop = Loop()
    host = Host(
        node,
        settings.broker,
        loop,
        Background(Flusher(loop.wake, sync, disk.times.syncs), Worker(loop.wake)),
        carrier=Carrier(disk.times.reads),
    )
    host.connections.possible = max(1, descriptors // 2 - SPARE_DESCRIPTORS)
    host.processors.possible = are_possible()
    host.meter.disk, host.meter.followers = disk.times, node.follower_connections
    metrics = Metrics(_metrics_server(host, node), for_metrics[0]) if for_metrics else None
    return Assembly(host, listeners, disk, settings, metrics)


def _metrics_server(host: Host, node: Node) -> MetricsServer:
    def trouble() -> str | None:
        if host.is_stopping:
            return "it is stopping"
        return None if node.ready else node.waits_for

    scrape = import_module(CATALOG).scraper(host, node)
    server: MetricsServer = import_module(SERVER).MetricsServer(host.loop, scrape, trouble)
    return server


def _disk(
    settings: NodeSettings, brake: str | None, descriptors: int
) -> tuple[PosixDisk, Callable[[int], None] | None]:
    """The disk, and how its files are brought to it, if not as usual."""
    if brake is None:
        return PosixDisk(descriptors), None
    slow = SlowDisk(brake, settings.metadata_log_dir, descriptors)
    return slow, slow.sync


def _with_real_ports(settings: NodeSettings, bound: list[Listener]) -> NodeSettings:
    """Port 0 is any free one; clients are to be told which."""
    ports, metrics = {listener.name: listener.port for listener in bound}, settings.metrics_listener
    return replace(
        settings,
        listeners=[each._replace(port=ports[each.name]) for each in settings.listeners],
        advertised=[each._replace(port=each.port or ports[each.name]) for each in settings.advertised],
        controller_endpoints=[
            each._replace(port=each.port or ports[each.name]) for each in settings.controller_endpoints
        ],
        metrics_listener=metrics and metrics._replace(port=ports[metrics.name]),
    )


def _take_directories(settings: NodeSettings, disk: PosixDisk) -> None:
    directories = list(dict.fromkeys([*settings.log_dirs, settings.metadata_log_dir]))
    with contextlib.suppress(OSError):  # which is told below
        owners(disk, directories)  # before a lock is left in what is not ours
    for directory in directories:
        try:
            disk.make_directory(directory)
            disk.lock(directory)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotStart(f"cannot use the data directory {directory}: {reason}") from error


def _raise_descriptor_limit() -> int:
    """As many files and connections as the system lets us have; how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):
            log.warning(Line("Limit of open files cannot be raised; set LimitNOFILE", limit=soft))
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


def end_on_signals(host: Host) -> None:
    """The first signal ends the host in order, the second one ends the process."""

    def end(number: int, _frame: FrameType | None) -> None:
        if host.is_stopping:
            os._exit(128 + number)
        host.stop()

    signal.set_wakeup_fd(host.loop.wake_fd, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
