"""A scrape over a socket, and everything else that may come to that port."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from andiron.edge.listener import Listener
from andiron.edge.loop import Loop
from andiron.edge.metrics.server import HEAD_BYTES_MAX, OPEN_MAX, OUT_BYTES, PATIENCE_S, MetricsServer
from edge.playground import SETTINGS

GET = b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n"


class Served:
    """A server on a loop that a test turns by hand."""

    def __init__(self, pieces: Callable[[], Iterator[bytes]], trouble: Callable[[], str | None]) -> None:
        self.loop, self.time = Loop(), 0.0
        self.server = MetricsServer(self.loop, pieces, trouble, clock=lambda: self.time)
        self.listener = Listener("http", "127.0.0.1", 0)
        self.server.serve(self.listener, SETTINGS)
        self.clients: list[socket.socket] = []

    def turn(self) -> None:
        self.loop.dispatch(self.loop.poll(0.01))

    def connect(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.listener.port))
        client.setblocking(False)
        self.clients.append(client)
        self.turn()
        return client

    def answer(self, client: socket.socket, turns: int = 2_000) -> bytes:
        """Everything until the server has said all."""
        got = bytearray()
        for _ in range(turns):
            try:
                piece = client.recv(1 << 20)
            except BlockingIOError:
                self.turn()
                continue
            except ConnectionResetError:
                return bytes(got)
            if not piece:
                return bytes(got)
            got += piece
        raise AssertionError("no end")

    def ask(self, request: bytes) -> bytes:
        client = self.connect()
        client.sendall(request)
        return self.answer(client)

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.listener.close()
        self.server.close()
        self.loop.close()


@pytest.fixture
def make() -> Iterator[Callable[..., Served]]:
    made: list[Served] = []

    def one(
        pieces: Callable[[], Iterator[bytes]] = lambda: iter([b"a 1\n", b"", b"b 2\n"]),
        trouble: Callable[[], str | None] = lambda: None,
    ) -> Served:
        made.append(Served(pieces, trouble))
        return made[-1]

    yield one
    for each in made:
        each.close()


@pytest.fixture
def served(make) -> Served:
    return make()


def body(answer: bytes) -> bytes:
    """What an answer says, taken out of its chunks."""
    head, _, rest = answer.partition(b"\r\n\r\n")
    if b"chunked" not in head:
        return rest
    chunks, at = [], 0
    while True:
        size = int(rest[at : rest.index(b"\r\n", at)], 16)
        begins = rest.index(b"\r\n", at) + 2
        ends, at = begins + size, begins + size + 2
        assert rest[ends:at] == b"\r\n"
        if not size:
            assert at == len(rest), "nothing comes after the end"
            return b"".join(chunks)
        chunks.append(rest[begins:ends])


def test_metrics_come_in_chunks(served):
    answer = served.ask(GET)

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Type: text/plain; version=0.0.4" in answer
    assert body(answer) == b"a 1\nb 2\n"


def test_a_query_does_not_matter(served):
    assert body(served.ask(GET.replace(b"/metrics", b"/metrics?x=1"))) == b"a 1\nb 2\n"


def test_a_request_may_come_byte_by_byte(served):
    client = served.connect()
    for byte in GET:
        client.send(bytes([byte]))
        served.turn()
    assert body(served.answer(client)) == b"a 1\nb 2\n"


def test_one_who_speaks_1_0_gets_no_chunks(served):
    answer = served.ask(b"GET /metrics HTTP/1.0\r\n\r\n")

    assert b"chunked" not in answer
    assert body(answer) == b"a 1\nb 2\n"


def test_a_head_is_a_head(served):
    answer = served.ask(GET.replace(b"GET", b"HEAD"))

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"\r\n\r\n")


def test_health(make):
    trouble: list[str | None] = [None]
    served = make(trouble=lambda: trouble[0])
    asked = GET.replace(b"/metrics", b"/healthz")

    assert served.ask(asked).startswith(b"HTTP/1.1 200 ")
    trouble[0] = "no majority of the controllers has elected a leader"
    answer = served.ask(asked)
    assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert body(answer) == b"no majority of the controllers has elected a leader\n"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"404"),
        (b"GET /metricsx HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\n\r\nlots of text", b"405"),
        (b"GET /metrics\r\n\r\n", b"400"),
        (b"GET /metrics HTTP/2\r\n\r\n", b"400"),
        (b"\r\n\r\n", b"400"),
        (b"\xff\xfe \x00 \x01\r\n\r\n", b"400"),
        (b"x" * (HEAD_BYTES_MAX * 2), b"431"),
        (b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 5_000, b"431"),
    ],
)
def test_what_is_not_served_is_told_so(served, request_, status):
    assert served.ask(request_).startswith(b"HTTP/1.1 " + status)
    assert body(served.ask(GET)) == b"a 1\nb 2\n", "and others are served"


def test_large_answers_are_made_as_they_are_taken(make):
    made = 0

    def pieces() -> Iterator[bytes]:
        nonlocal made
        for _ in range(2_000):
            made += 1
            yield b"x" * 9_999 + b"\n"

    served = make(pieces)
    client = served.connect()
    client.sendall(GET)
    for _ in range(200):
        served.turn()

    assert made < 2_000, "nobody has read it yet"
    assert len(body(served.answer(client))) == 2_000 * 10_000


def test_pieces_that_take_long_are_spread_over_turns(make):
    import time

    def pieces() -> Iterator[bytes]:
        for _ in range(10):
            time.sleep(0.002)
            yield b""
        yield b"done\n"

    served = make(pieces)
    client = served.connect()
    client.sendall(GET)
    turns, got = 0, b""
    while b"0\r\n\r\n" not in got:
        served.turn()
        turns += 1
        try:
            got += client.recv(1 << 16)
        except BlockingIOError:
            continue
    assert turns >= 10, "one turn does not do it all"


def test_a_bug_in_what_is_told_costs_that_scrape_only(make, caplog):
    fails = [True]

    def pieces() -> Iterator[bytes]:
        yield b"a 1\n" * OUT_BYTES
        if fails[0]:
            raise RuntimeError("a planted bug")

    served = make(pieces)
    assert not served.ask(GET).endswith(b"0\r\n\r\n"), "nobody takes it for a whole one"
    assert "a planted bug" in caplog.text
    fails[0] = False
    assert body(served.ask(GET)) == b"a 1\n" * OUT_BYTES


def test_one_who_leaves_in_the_middle_is_forgotten(make):
    served = make(lambda: iter([b"x" * 100_000] * 1_000))
    client = served.connect()
    client.sendall(GET)
    served.turn()
    client.close()
    for _ in range(50):
        served.turn()

    assert not served.server._open


def test_one_who_says_nothing_and_leaves_is_forgotten(served):
    served.connect().close()
    for _ in range(5):
        served.turn()
    assert not served.server._open


def test_there_are_only_so_many_and_the_first_goes(served):
    clients = [served.connect() for _ in range(OPEN_MAX + 3)]

    assert len(served.server._open) == OPEN_MAX
    assert served.answer(clients[0]) == b""
    clients[-1].sendall(GET)
    assert body(served.answer(clients[-1])) == b"a 1\nb 2\n"


def test_one_who_does_not_go_on_is_closed_by_a_sweep(served):
    client = served.connect()
    served.time += PATIENCE_S + 1
    late = served.connect()
    served.server.sweep()

    assert served.answer(client) == b""
    assert len(served.server._open) == 1
    late.sendall(GET)
    assert body(served.answer(late)) == b"a 1\nb 2\n"


def test_when_no_descriptors_are_left_it_waits_for_a_sweep(served, caplog):
    served.server.cannot_accept("too many open files")
    client = socket.create_connection(("127.0.0.1", served.listener.port))
    client.setblocking(False)
    served.clients.append(client)
    served.turn()
    assert not served.server._open

    served.server.sweep()
    served.turn()
    assert len(served.server._open) == 1
