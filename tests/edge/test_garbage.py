"""Whatever comes in on a socket, in whatever pieces, and however its sender leaves: the host serves on."""

from __future__ import annotations

import random
import socket
import struct

import pytest

from andiron.model.effects import Connected, Disconnected
from edge.playground import Client, Playground, framed


def nonsense(chance: random.Random) -> bytes:
    """Bytes of some kind that a client should not send, or should not stop after."""
    whole = framed(b"echo:" + chance.randbytes(chance.randrange(2_000)))
    return chance.choice(
        [
            chance.randbytes(chance.randrange(1, 3_000)),
            whole[: chance.randrange(len(whole))],
            whole + chance.randbytes(3),
            struct.pack(">i", chance.randrange(1 << 28)) + b"not so much",
            framed(chance.randbytes(chance.randrange(50))) * chance.randrange(1, 200),
            framed(b"later:for ever") + whole,
            framed(b"size:%d" % chance.randrange(3_000_000)) * chance.randrange(1, 20),
            b"",
        ]
    )


def leave(client: Client, chance: random.Random) -> None:
    if chance.random() < 0.5:
        client.link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if chance.random() < 0.8:
        client.close()


@pytest.mark.parametrize("seed", range(5))
def test_the_host_survives_nonsense(seed):
    chance = random.Random(seed)
    with Playground() as play:
        for _ in range(60):
            client = play.connect()
            data = nonsense(chance)
            while data:
                count = chance.randrange(1, len(data) + 1)
                try:
                    client.link.send(data[:count])
                except (BlockingIOError, ConnectionError):
                    break
                data = data[count:]
                if chance.random() < 0.3:
                    play.turn()
            leave(client, chance)
        client = play.connect()
        client.send(b"echo:well?")
        assert client.receive() == b"well?"
        for each in play.clients:
            each.close()
        play.turn_until(lambda: not play.host.connections)
        connected = [event.conn for event in play.node.events if isinstance(event, Connected)]
        left = [event.conn for event in play.node.events if isinstance(event, Disconnected)]
        assert sorted(left) == connected, "each is told once that it came and once that it left"
