"""What does the edge cost a request, beyond the system calls that nobody can do without?

Host and client in one process over socket pairs, once with the host and a node that answers a
constant (0.5 µs of what is shown), once with the bare calls in the same order: poll, receive,
send. The best of many short rounds, so that a busy machine shows the same figures as a quiet
one.

    one connection, one request a turn      4.7 µs when written (CPython 3.11), a turn's fixed cost included
    100 connections, one each               3.3 µs
    10 connections, five in flight          2.0 µs
    one connection, fifty in flight         1.6 µs

Above 5 µs the edge, and not the node, bounds small requests.
"""

from __future__ import annotations

import json
import platform
import select
import socket
import tempfile
import time
from collections.abc import Callable

from andiron.edge.flusher import Flusher
from andiron.edge.host import Background, Host
from andiron.edge.loop import Loop
from andiron.edge.worker import Worker
from bench_edge import ANSWER, ASK_ANSWER, SETTINGS, TrivialNode, frame
from harness import commit

REQUEST = frame(ASK_ANSWER + bytes(140))
ANSWER_BYTES = 4 + len(ANSWER)
ROUNDS, REQUESTS_A_ROUND = 300, 1000


def with_host(links: int, in_flight: int, folder: str) -> float:
    """Microseconds a request with the edge in between."""
    loop = Loop()
    host = Host(TrivialNode(folder), SETTINGS, loop, Background(Flusher(loop.wake), Worker(loop.wake)))
    clients = []
    for _ in range(links):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        host.connections.admit(ours, "PLAINTEXT", "here")
        clients.append(theirs)
    return best_round(clients, in_flight, host.turn)


def bare(links: int, in_flight: int) -> float:
    """Microseconds a request of polling, receiving and sending alone."""
    poll, servers, clients = select.epoll(), {}, []
    for _ in range(links):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        poll.register(ours.fileno(), select.EPOLLIN)
        servers[ours.fileno()] = ours
        clients.append(theirs)
    buffer, answers = memoryview(bytearray(16 << 10)), bytes(ANSWER_BYTES * in_flight)

    def turn() -> None:
        ready = poll.poll(5.0, 256)
        for fd, _ in ready:
            servers[fd].recv_into(buffer)
        for fd, _ in ready:
            servers[fd].send(answers)

    return best_round(clients, in_flight, turn)


def best_round(clients: list[socket.socket], in_flight: int, turn: Callable[[], None]) -> float:
    requests, turns, best = REQUEST * in_flight, REQUESTS_A_ROUND // (len(clients) * in_flight), float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(turns):
            for client in clients:
                client.send(requests)
            turn()
            for client in clients:
                client.recv(64 << 10)
        best = min(best, (time.perf_counter() - began) / (turns * len(clients) * in_flight))
    return best * 1e6


def main() -> None:
    for links, in_flight in ((1, 1), (100, 1), (10, 5), (1, 50)):
        with tempfile.TemporaryDirectory() as folder:
            whole = with_host(links, in_flight, folder)
        calls = bare(links, in_flight)
        row = {
            "bench": f"edge turn {links}x{in_flight}",
            "us_a_request": round(whole, 2),
            "of_it_system_calls": round(calls, 2),
            "of_it_edge": round(whole - calls, 2),
        }
        print(json.dumps(row | {"python": platform.python_version(), "commit": commit()}), flush=True)


if __name__ == "__main__":
    main()
