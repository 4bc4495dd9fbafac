"""A node takes whatever a client may say: every API in every version, with values nobody would send.

The messages are valid, made from their declarations (wire_samples.py), and speak of topics that are there
and of some that are not. Whatever they ask for, each is answered, waits or is hung up on; the node raises
nothing, and what was written before is there after.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from andiron.broker.handlers import HANDLERS, Handler
from andiron.model.effects import Received
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.apis import APIS
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.schema import Struct
from properties.wire_samples import sample
from worlds.node import SmallNode

NAMES = ("t", "t", "u", "nope", "", "no good", "1", "__consumer_offsets")
IDS = [
    (handler, version)
    for handler in HANDLERS.values()
    for version in range(handler.served[0], handler.served[1] + 1)
]


class Mischief:
    """A client that sends valid nonsense."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.node = SmallNode(seed=seed, num_partitions="2")
        self.topic_id = self.node.create("t", partitions=2).topic_id
        self.node.create("u", flush_messages=1)
        self.node.create("kept")
        self.node.produce("kept", b"a", b"b")
        self.ticket = 1_000_000

    def send(self, handler: Handler, version: int) -> None:
        body = self.plausible(sample(APIS[handler.api].request, version, self.chance))
        self.ticket += 1
        frame = encode_request_header(handler.api, version, 1, "x") + encode_message(body, version)
        self.node.step(Received(1, self.ticket, memoryview(bytearray(frame))))
        self.node.closed.clear()

    def plausible(self, made: Any) -> Any:
        """Let some of the values hit something that is there."""
        for field in type(made).__fields__:
            value = getattr(made, field.name)
            if isinstance(value, Struct):
                self.plausible(value)
            elif isinstance(value, list):
                setattr(made, field.name, [self._likely(field.name, field.of, each) for each in value])
            else:
                setattr(made, field.name, self._likely(field.name, field, value))
        return made

    def _likely(self, name: str, field: Any, value: Any) -> Any:
        chance = self.chance
        if isinstance(value, Struct):
            return self.plausible(value)
        if value is None or chance.random() < 0.2:
            return value
        if (isinstance(value, str) and "topic" in name) or name in ("name", "resource_name", "topics"):
            return chance.choice(NAMES) if isinstance(value, str) else value
        if name == "topic_id":
            return chance.choice((self.topic_id, value))
        if name in ("index", "partition", "partition_index", "count", "num_partitions", "broker_ids"):
            return chance.choice((0, 1, 2, value)) if isinstance(value, int) else value
        if name == "resource_type":
            return chance.choice((2, 4))
        if name == "records":
            return build([Record(0, self.node.now, None, b"x")])
        return value


@pytest.mark.parametrize("seed", [*range(8), 51])
def test_whatever_is_asked_the_node_goes_on(seed: int) -> None:
    mischief = Mischief(seed)
    for _ in range(6):
        for handler, version in IDS:
            mischief.send(handler, version)
        mischief.node.advance(mischief.chance.choice((0, 1, 1_000, 70_000)))
        mischief.node.closed.clear()  # for what had to wait for a request that goes in slices

    node = mischief.node
    if "kept" in node.node.broker.image.topics:
        assert node.values("kept")[:2] == [b"a", b"b"]
    node.restart()
    node.restart(clean=False)
    assert node.create(f"after-{seed}").error_code == 0
