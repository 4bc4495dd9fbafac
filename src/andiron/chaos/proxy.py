"""The wires between nodes, where they can be cut: TCP proxies in user space, since real wires would need root.

    node 1 ──▶ port of (node 2, its listener) ──▶ node 2
              │ whose request is it? the client id of its first frame says: node-1
              └ (1, 2) is cut ──▶ nothing is read, nothing is written; both ends stay open, as in a rift

A rift is silent: no end hears that the other is gone, bytes wait where they are, and go on their way when it is
healed, as TCP would have sent them again. A node that dies, on the other hand, is heard of at once, since the
proxy hangs up on one side when the other side does.

It is a process of its own, so that nobody's work delays what nodes say to each other. Commands are JSON lines on
stdin, each is answered with a line on stdout; it ends with its stdin.

    {"open": [[2, 19092], …]}       → {"ports": [41234, …]}     one port for each (node, port of it)
    {"cut": [[1, 2], [2, 1]]}       → {"cut": 2}                these pairs, and no others, from now on
    {"hang_up": 2}                  → {"hung_up": 5}            its connections end, and what waited on them is gone

Read next: switchboard.py, the other end of that pipe.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
import selectors
import socket
import sys
from collections.abc import Iterable
from typing import Any

HOST = "127.0.0.1"
PIECE = 1 << 16
HELD_MAX = 1 << 20  # bytes that wait on one side before the other side is left unread
HEAD = 14  # size, key, version, correlation id, and the length of the client id
CLIENTS = 0  # whoever is no node
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_NODE = re.compile(rb"node-(\d+)")


def caller(first: bytes) -> int | None:
    """Which node begins a connection so; CLIENTS if it is none, None if that cannot be told yet."""
    if len(first) < HEAD:
        return None
    length = int.from_bytes(first[HEAD - 2 : HEAD], "big", signed=True)
    if length <= 0:
        return CLIENTS
    if len(first) < HEAD + length:
        return None
    match = _NODE.fullmatch(first[HEAD : HEAD + length])
    return int(match[1]) if match else CLIENTS


class Half:
    """One side of a connection: its socket, and what is to be written there."""

    def __init__(self, link: socket.socket, *, connected: bool) -> None:
        self.link = link
        self.held = bytearray()
        self.connected = connected
        self.over = False  # nothing more comes from here


class Wire:
    """A connection through the proxy: who called, and the node that is called."""

    def __init__(self, near: socket.socket, far: socket.socket, target: int) -> None:
        self.near, self.far = Half(near, connected=True), Half(far, connected=False)
        self.source: int | None = None
        self.target = target
        self._first = bytearray()

    @property
    def halves(self) -> tuple[Half, Half]:
        return self.near, self.far

    def pair(self) -> tuple[int, int]:
        """Who speaks to whom; before it is known who calls, a client does."""
        return self.source or CLIENTS, self.target

    def other(self, half: Half) -> Half:
        return self.far if half is self.near else self.near

    def note_caller(self, data: bytes) -> None:
        """Look at the first bytes until they say who calls."""
        self._first += data[:PIECE]
        self.source = caller(bytes(self._first))
        if self.source is not None:
            self._first.clear()


class Proxy:
    """All wires, in one loop."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self._cut: frozenset[tuple[int, int]] = frozenset()
        self._wires: dict[Wire, None] = {}
        self._listeners: list[socket.socket] = []

    def open(self, node: int, port: int) -> int:
        """Listen for those who would speak to `node` at `port`; the port to speak to instead."""
        listener = socket.create_server((HOST, 0), backlog=128)
        listener.setblocking(False)
        self._listeners.append(listener)
        self.selector.register(listener, READ, lambda events: self._accept(listener, node, port))
        taken: int = listener.getsockname()[1]
        return taken

    def cut(self, pairs: Iterable[tuple[int, int]]) -> None:
        """From now on nothing goes between these, in either direction of a connection that the first has made."""
        self._cut = frozenset(pairs)
        for wire in list(self._wires):
            self._listen(wire)

    def hang_up(self, node: int) -> int:
        """End every connection of a node, with all that was still to be carried; returns how many there were."""
        own = [wire for wire in self._wires if node in wire.pair()]
        for wire in own:
            self._end(wire)
        return len(own)

    def turn(self, timeout_s: float | None = None) -> None:
        """Carry what there is to carry."""
        for key, events in self.selector.select(timeout_s):
            known = self.selector.get_map().get(key.fd)
            if known is not None and known.data is key.data:  # not closed by one before it in this turn
                key.data(events)

    def close(self) -> None:
        """Hang up everywhere."""
        for wire in list(self._wires):
            self._end(wire)
        for listener in self._listeners:
            self.selector.unregister(listener)
            listener.close()
        self.selector.close()

    # ── a wire's life ────────────────────────────────────────────────────────────────

    def _accept(self, listener: socket.socket, node: int, port: int) -> None:
        with contextlib.suppress(BlockingIOError):
            near, _ = listener.accept()
            far = socket.socket()
            for each in (near, far):
                each.setblocking(False)
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = Wire(near, far, node)
            self._wires[wire] = None
            failed = far.connect_ex((HOST, port))
            if failed not in (0, errno.EINPROGRESS):
                self._end(wire)
            else:
                self._listen(wire)

    def _listen(self, wire: Wire) -> None:
        """Ask the system for what can be done with each half now."""
        is_cut = wire.pair() in self._cut
        for half in wire.halves:
            events = 0
            if not half.connected or (half.held and not is_cut):
                events |= WRITE
            if half.connected and not half.over and not is_cut and len(wire.other(half).held) < HELD_MAX:
                events |= READ
            self._watch(wire, half, events)

    def _watch(self, wire: Wire, half: Half, events: int) -> None:
        known = self.selector.get_map().get(half.link)
        if known is None and events:
            self.selector.register(half.link, events, lambda ready: self._ready(wire, half, ready))
        elif known is not None and not events:
            self.selector.unregister(half.link)
        elif known is not None and known.events != events:
            self.selector.modify(half.link, events, known.data)

    def _ready(self, wire: Wire, half: Half, events: int) -> None:
        try:
            if not half.connected:
                self._finish_connecting(half)
            if events & READ:
                self._receive(wire, half)
            if half.held and wire.pair() not in self._cut:
                del half.held[: half.link.send(half.held)]
        except BlockingIOError:
            pass
        except OSError:
            self._end(wire)
            return
        if any(each.over and not wire.other(each).held for each in wire.halves):
            self._end(wire)
        else:
            self._listen(wire)

    def _finish_connecting(self, half: Half) -> None:
        failed = half.link.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failed:
            raise OSError(failed, "not reached")
        half.connected = True

    def _receive(self, wire: Wire, half: Half) -> None:
        data = half.link.recv(PIECE)
        if not data:
            half.over = True
            return
        if half is wire.near and wire.source is None:
            wire.note_caller(data)
        wire.other(half).held += data

    def _end(self, wire: Wire) -> None:
        self._wires.pop(wire, None)
        for half in wire.halves:
            if half.link.fileno() >= 0:
                self._watch(wire, half, 0)
                half.link.close()


def obey(proxy: Proxy, command: dict[str, Any]) -> dict[str, Any]:
    """Do what one line says."""
    if "open" in command:
        return {"ports": [proxy.open(node, port) for node, port in command["open"]]}
    if "hang_up" in command:
        return {"hung_up": proxy.hang_up(command["hang_up"])}
    pairs = [(source, target) for source, target in command["cut"]]
    proxy.cut(pairs)
    return {"cut": len(pairs)}


def main() -> None:
    """Serve until stdin ends."""
    proxy, going = Proxy(), True

    def read_command(_events: int) -> None:
        nonlocal going
        line = sys.stdin.buffer.readline()
        going = bool(line)
        if line:
            print(json.dumps(obey(proxy, json.loads(line))), flush=True)

    proxy.selector.register(sys.stdin.fileno(), READ, read_command)
    while going:
        proxy.turn()


if __name__ == "__main__":
    main()
