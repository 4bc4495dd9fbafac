"""Bytes that no client sends: they cost their connection, and nobody else anything."""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from peers import frames
from peers.node import Node
from peers.raw import Closed, Raw

INVALID_RECORD, CORRUPT_MESSAGE = 87, 2
REQUEST_BYTES_MAX = 100 * 1024 * 1024


@contextmanager
def connected(node: Node) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", node.port), timeout=10) as link:
        yield link


def is_hung_up_on(link: socket.socket) -> bool:
    """Whether the other side closes without a word."""
    try:
        return link.recv(1000) == b""
    except ConnectionResetError:
        return True


SIZES = {
    "negative": -1,
    "the most negative": -(1 << 31),
    "two gigabytes": (1 << 31) - 1,
    "one byte too many": REQUEST_BYTES_MAX + 1,
}


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_size_that_cannot_be_is_hung_up_on_at_once(node: Node, size: int) -> None:
    with connected(node) as link:
        link.sendall(struct.pack(">i", size) + bytes(100))

        assert is_hung_up_on(link)


def test_a_size_that_is_allowed_costs_no_memory_until_the_bytes_come(node: Node) -> None:
    links = []
    for _ in range(50):
        link = socket.create_connection(("127.0.0.1", node.port), timeout=10)
        link.sendall(struct.pack(">i", REQUEST_BYTES_MAX))
        links.append(link)

    with Raw(node.port) as control:
        control.ask(frames.api_versions())

    for link in links:
        link.close()
    assert resident_mb(node) < 200, "and not fifty times a hundred"


def resident_mb(node: Node) -> int:
    with open(f"/proc/{node.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20


@pytest.mark.parametrize("seed", range(20))
def test_garbage_harms_nobody(node: Node, seed: int) -> None:
    chance = random.Random(seed)
    with connected(node) as link:
        link.sendall(chance.randbytes(chance.randrange(1, 5_000)))


GREETINGS = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls": bytes.fromhex("1603010200010001fc0303") + bytes(200),
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "nothing but zeros": bytes(1_000),
}


@pytest.mark.parametrize("greeting", GREETINGS.values(), ids=GREETINGS)
def test_other_protocols_are_hung_up_on(node: Node, greeting: bytes) -> None:
    with connected(node) as link:
        link.sendall(greeting)

        assert is_hung_up_on(link)


@pytest.mark.parametrize("key", [-1, 7, 99, 32_767])
def test_an_api_that_nobody_knows_is_hung_up_on(node: Node, key: int) -> None:
    with Raw(node.port) as link:
        link.send(frames.frame(key, 0, b"", flexible=False))

        with pytest.raises((Closed, ConnectionResetError)):
            link.receive()


@pytest.mark.parametrize(("key", "version"), [(0, 2), (0, 14), (1, 3), (1, 19), (3, 14), (3, -1), (19, 99)])
def test_a_version_that_is_not_served_is_hung_up_on(node: Node, key: int, version: int) -> None:
    with Raw(node.port) as link:
        link.send(frames.frame(key, version, bytes(50)))

        with pytest.raises((Closed, ConnectionResetError)):
            link.receive()


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(node: Node) -> None:
    with Raw(node.port) as link:
        answer = link.ask(frames.frame(frames.API_VERSIONS, 99, b"\x01\x02\x03"))

        assert struct.unpack_from(">ihi", answer) == (0, 35, 1)
        assert frames.read_api_versions(link.ask(frames.api_versions()))


def test_a_request_is_answered_before_the_nonsense_after_it_is_hung_up_on(node: Node) -> None:
    with Raw(node.port) as link:
        link.send(frames.api_versions() + struct.pack(">i", -5))

        assert frames.read_api_versions(link.receive())
        with pytest.raises((Closed, ConnectionResetError)):
            link.receive()


def test_a_request_that_comes_one_byte_at_a_time_is_answered(node: Node) -> None:
    request = frames.produce("control", {0: frames.batch([b"slowly"])})
    with Raw(node.port) as link:
        for position in range(len(request)):
            link.send(request[position : position + 1])

        assert frames.read_produce(link.receive())[0][0] == 0


@pytest.mark.parametrize("kept", [1, 3, 4, 5, 13, 40])
def test_half_a_request_and_then_nothing_leaves_no_trace(node: Node, kept: int) -> None:
    request = frames.produce("control", {0: frames.batch([b"never whole"])})
    with connected(node) as link:
        link.sendall(request[:kept])

    with Raw(node.port) as link:
        assert b"never whole" not in link.fetch("control", 0)


def test_a_client_that_goes_without_reading_its_answers_harms_nobody(node: Node) -> None:
    for _ in range(20):
        with connected(node) as link:
            link.sendall(frames.fetch("control", {0: 0}, wait_ms=0) * 50)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_client_that_goes_while_it_waits_harms_nobody(node: Node) -> None:
    for _ in range(20):
        with connected(node) as link:
            link.sendall(frames.fetch("control", {0: 1 << 40}, wait_ms=60_000, min_bytes=1))
            link.sendall(frames.fetch("control", {0: end_of(node)}, wait_ms=60_000, min_bytes=1))


def end_of(node: Node) -> int:
    with Raw(node.port) as link:
        answer = frames.read_fetch(link.ask(frames.fetch("control", {0: 0}, wait_ms=0)))
        return answer.partitions[0][1]


def test_a_client_that_never_reads_is_listened_to_no_longer(node: Node) -> None:
    """Its answers fill the buffers of the sockets; what it asks then stays with it, and costs no memory here."""
    with connected(node) as link:
        link.settimeout(0.5)
        with pytest.raises(TimeoutError):
            for _ in range(10_000):
                link.sendall(frames.fetch("control", {0: 0}, wait_ms=0) * 1_000)

        assert resident_mb(node) < 200


def test_a_client_that_shuts_its_side_still_gets_no_harm_done(node: Node) -> None:
    with connected(node) as link:
        link.sendall(frames.api_versions())
        link.shutdown(socket.SHUT_WR)
        while link.recv(1000):
            pass


def test_a_hundred_bad_connections_at_once(node: Node) -> None:
    chance = random.Random(7)
    links = [socket.create_connection(("127.0.0.1", node.port), timeout=10) for _ in range(100)]
    for link in links:
        link.sendall(chance.randbytes(chance.randrange(1, 200)))
    for link in links:
        link.close()


# ── records ──────────────────────────────────────────────────────────────────────────


def with_byte(records: bytes, position: int, value: int) -> bytes:
    return records[:position] + bytes([value]) + records[position + 1 :]


GOOD = frames.batch([b"value"])
BAD_RECORDS = {
    "a wrong checksum": (with_byte(GOOD, len(GOOD) - 1, 0x55), CORRUPT_MESSAGE),
    "magic 0": (with_byte(GOOD, 16, 0), INVALID_RECORD),
    "magic 1": (with_byte(GOOD, 16, 1), INVALID_RECORD),
    "magic 3": (with_byte(GOOD, 16, 3), CORRUPT_MESSAGE),
    "cut short": (GOOD[:-2], CORRUPT_MESSAGE),
    "a length beyond the end": (with_byte(GOOD, 9, 0x7F), CORRUPT_MESSAGE),
    "a negative length": (with_byte(GOOD, 8, 0xFF), CORRUPT_MESSAGE),
    "empty": (b"", INVALID_RECORD),
    "one byte": (b"\0", CORRUPT_MESSAGE),
    "two batches": (GOOD + GOOD, INVALID_RECORD),
}


@pytest.mark.parametrize(("records", "code"), BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_bad_records_are_refused_with_their_code_and_the_connection_goes_on(
    node: Node, records: bytes, code: int
) -> None:
    with Raw(node.port) as link:
        answer = frames.read_produce(link.ask(frames.produce("control", {0: records})))
        assert answer[0] == (code, -1)

        assert frames.read_produce(link.ask(frames.produce("control", {0: GOOD})))[0][0] == 0
