"""Thousands of requests with something wrong in them, over a real socket, from fixed seeds.

Each begins as a valid one: any API in any version that is served, made from its declaration, about topics
that are there. Then bytes are turned over, cut out, doubled or put in. The node may answer, wait or hang up.
"""

from __future__ import annotations

import random
import socket
import struct

import pytest

from andiron.broker.handlers import HANDLERS
from andiron.wire.apis import APIS
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from peers import frames
from peers.node import Node
from peers.raw import Raw
from properties.wire_samples import sample

TOPICS = ("a", "topic-1")  # names that the samples use
CONNECTIONS, REQUESTS = 150, 8  # of a seed, and of a connection
VERSIONS = [
    (handler.api, version)
    for handler in HANDLERS.values()
    for version in range(handler.served[0], handler.served[1] + 1)
]


def valid(chance: random.Random) -> bytes:
    key, version = chance.choice(VERSIONS)
    body = encode_message(sample(APIS[key].request, version, chance), version)
    return encode_request_header(key, version, chance.getrandbits(31), "fuzz") + body


def mutated(request: bytes, chance: random.Random) -> bytes:
    data = bytearray(request)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(5):
            case 0 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + chance.randrange(1, 9)] = chance.randbytes(chance.randrange(9))
            case 2:
                del data[at:]
            case 3:
                data[at:at] = data[: chance.randrange(20)]
            case 4 if at < len(data):
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
    return bytes(data)


def framed(request: bytes, chance: random.Random) -> bytes:
    """With its size before it, which is now and then a lie."""
    lie = chance.choice((-1, 1, 1 << 20, -(1 << 31))) if chance.random() < 0.02 else 0
    return struct.pack(">I", (len(request) + lie) & 0xFFFF_FFFF) + request


def play(node: Node, chance: random.Random) -> None:
    """One connection: send everything, then read until the node hangs up."""
    with socket.create_connection(("127.0.0.1", node.port), timeout=10) as link:
        try:
            for _ in range(REQUESTS):
                link.sendall(framed(mutated(valid(chance), chance), chance))
            link.shutdown(socket.SHUT_WR)
            while link.recv(1 << 16):
                pass
        except TimeoutError:
            raise
        except OSError:
            pass  # hung up on while it was still talking


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_sent_the_node_stays_up_and_serves_others(node: Node, seed: int) -> None:
    chance = random.Random(seed)
    with Raw(node.port) as control:
        control.ask(frames.create_topics(dict.fromkeys(TOPICS, 1)))
        for _ in range(CONNECTIONS):
            play(node, chance)
            assert frames.read_api_versions(control.ask(frames.api_versions()))


def test_after_all_this_a_restart_finds_everything(shared_node: Node) -> None:
    with Raw(shared_node.port) as link:
        before = link.fetch("control", 0)

    assert shared_node.stop() == 0
    shared_node.start()

    with Raw(shared_node.port) as link:
        assert link.fetch("control", 0) == before
    assert "Traceback" not in shared_node.printed()
