"""Several machines whose nodes do as a test says, or real ones, each a cluster by itself."""

from __future__ import annotations

from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.effects import Call, Close, Reply
from andiron.model.ids import NEVER, Address, Millis
from andiron.sim import host as hosting
from andiron.sim.host import Host
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.apis import ApiKey
from andiron.wire.codec import encoder
from andiron.wire.header import decode_request_header, encode_request_header
from andiron.wire.messages.api_versions import ApiVersionsRequest
from unit.sim.quiet import SETTINGS

CONTROLLER, BROKER = 9093, 9092


def properties(number):
    return SETTINGS | {
        "node.id": str(number),
        "listeners": f"PLAINTEXT://node-{number}:9092,CONTROLLER://node-{number}:9093",
    }


class Puppet:
    """A node that answers with an echo when it is told to, and writes down what happens to it."""

    def __init__(self, settings, disk, seed):
        self.settings, self.ready, self.answers = settings, True, True
        self.events, self.frames = [], []

    def start(self, now):
        return []

    def step(self, event, now):
        self.events.append(event)
        if hasattr(event, "frame"):
            self.frames.append(bytes(event.frame))
        if type(event).__name__ == "Received" and self.answers:
            return [self.reply(event.conn, event.ticket, self.frames[-1])]
        return []

    @staticmethod
    def reply(conn, ticket, frame):
        correlation = decode_request_header(frame, 0, len(frame))[2]
        return Reply(conn, ticket, [correlation.to_bytes(4, "big"), b"echo"])

    def next_deadline(self):
        return NEVER

    def leave(self, now):
        return []

    resign = leave
    has_left = is_settled = True
    broken = None

    def stop(self, now):
        return True

    def told(self, kind):
        return [event for event in self.events if type(event).__name__ == kind]


class Puppets:
    """A world of puppets."""

    def __init__(self, monkeypatch, count=2, seed=1, tell=None):
        monkeypatch.setattr(hosting, "Node", Puppet)
        self.world = World(seed, tell)
        self.network = Network(self.world)
        settings = [NodeSettings.load(properties(number)) for number in range(1, count + 1)]
        self.hosts = [Host(self.world, self.network, each) for each in settings]
        for host in self.hosts:
            host.start()

    def node(self, number):
        return self.hosts[number - 1].node

    def host(self, number):
        return self.hosts[number - 1]

    def call(self, token, *, of=1, at=2, port=CONTROLLER, lane="votes", timeout_ms=1_000):
        parts = [encode_request_header(ApiKey.API_VERSIONS, 3, token, "node")]
        encoder(ApiVersionsRequest, 3)(ApiVersionsRequest("sim", "1"), parts)
        self.host(of)._carry_out([Call(token, Address(f"node-{at}", port), lane, parts, timeout_ms)])

    def close_all(self, of):
        host = self.host(of)
        host._carry_out([Close(number, "enough") for number in list(host._links)])

    def run(self, ms=10_000):
        self.world.run(Millis(self.world.now + ms))
