"""The same request again and again over some connections, one under way on each.

One thread serves them all by readiness, and touches nothing of an answer but its length. That costs as much as a small
request costs a broker, or more, so it is for requests that are dear (commits.py); for small ones there is generator/.
"""

from __future__ import annotations

import select
import socket
import time


class Member:
    """One connection and its only request."""

    __slots__ = ("got", "link", "request", "sent_at")

    def __init__(self, link: socket.socket, request: bytes) -> None:
        self.link = link
        self.request = request
        self.got = 0
        self.sent_at = 0.0


def connect(port: int, request: bytes) -> Member:
    link = socket.create_connection(("127.0.0.1", port))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Member(link, request)


def drive(members: list[Member], size: int, seconds: float, times: list[float]) -> float:
    """Ask and ask again on every connection until time is up; return how long it took."""
    poll = select.epoll()
    by_number = {member.link.fileno(): member for member in members}
    clock, buffer = time.perf_counter, bytearray(4096)
    for number, member in by_number.items():
        poll.register(number, select.EPOLLIN)
        member.sent_at = clock()
        member.link.send(member.request)
    started, until = clock(), clock() + seconds
    while clock() < until:
        for number, _ in poll.poll(1.0):
            member = by_number[number]
            taken = member.link.recv_into(buffer)
            assert taken, "the broker closed a connection"
            member.got += taken
            if member.got == size:
                now = clock()
                times.append(now - member.sent_at)
                member.got, member.sent_at = 0, now
                member.link.send(member.request)
    return clock() - started
