"""Several nodes without edges: what they call each other goes through a list, and time passes when the test says so.

What is asked of a node that is dead fails at once, as a refused connection does, and who had a connection to it learns
that it broke. What goes over a way that is cut, or to a node that is paused, is silence until the way is open again or
the caller's time is up.
Replies leave a connection in the order of its requests.
"""

import errno
from collections import deque
from random import Random

from andiron.broker.node.node import Node
from andiron.broker.settings.node_settings import NodeSettings
from andiron.log.disk import FileSlice
from andiron.model.effects import (
    Answered,
    Call,
    Close,
    Connected,
    Disconnected,
    Flush,
    Flushed,
    Received,
    Reply,
    Unanswered,
    Woken,
)
from andiron.model.ids import Address
from andiron.sim.disk import MemoryDisk
from andiron.wire.apis import APIS
from andiron.wire.codec import decode_message, encode_message
from andiron.wire.header import decode_response_header, encode_request_header

START = 1_700_000_000_000
CLUSTER_ID = "an-andiron-cluster-000"


def properties(node, voters, serves=True, founder=None, **more):
    """What one node of a cluster is told: who votes, or whom to join, unless it is the founder."""
    votes = node in voters
    listeners = ([f"PLAINTEXT://node-{node}:9092"] if serves else []) + (
        [f"CONTROLLER://node-{node}:9093"] if votes else []
    )
    given = {
        "node.id": str(node),
        "process.roles": ",".join(["broker"] * serves + ["controller"] * votes),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listeners": ",".join(listeners),
        "log.dirs": "/data",
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.num.partitions": "3",
    }
    if founder is None:
        given["controller.quorum.voters"] = ",".join(f"{each}@node-{each}:9093" for each in voters)
    elif node != founder:
        given["controller.quorum.bootstrap.servers"] = f"node-{founder}:9093"
    return given | {name.replace("_", "."): str(value) for name, value in more.items()}


class Member:
    """One node of a cluster, and what it has asked for that is not done yet."""

    def __init__(self, number, disk):
        self.number, self.disk = number, disk
        self.node, self.life = None, 0
        self.conns = {}  # (who, lane) → connection
        self.tickets = {}  # ticket → its connection
        self.waiting = {}  # connection → [ticket, who waits for it, the reply once it is there], in order


class SmallCluster:
    """Nodes that hear each other at once, unless the way between them is cut."""

    def __init__(self, nodes=(1, 2, 3), voters=None, without_broker=(), founder=None, **more):
        """With a `founder`, the voters are not in the settings: it votes alone until others are added."""
        self.now, self.founder = START, founder
        self.voters = tuple(nodes if voters is None else voters)
        self.without_broker, self.more = without_broker, more
        self.members = {number: Member(number, self._disk(number)) for number in nodes}
        self.cut = set()  # pairs (from, to) between which nothing gets through
        self.paused = set()
        self._queue = deque()
        self._stuck = []  # calls and answers that do not get through: until when, what then, how to try again
        self._ticket = self._conn = 0
        for number in nodes:
            self.start(number)

    def _disk(self, number):
        disk = MemoryDisk()
        disk.make_directory("/data")
        meta = f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={number}\ndirectory.id=dir-{number}00000000000000000\n"
        disk.write_file("/data/meta.properties", meta.encode())
        return disk

    # ── life ─────────────────────────────────────────────────────────────────────────

    def start(self, number):
        member = self.members[number]
        member.life += 1
        serves = number not in self.without_broker
        settings = NodeSettings.load(properties(number, self.voters, serves, self.founder, **self.more))
        member.node = Node(settings, member.disk, seed=number * 1000 + member.life)
        member.conns, member.tickets, member.waiting = {}, {}, {}
        self._carry_out(member, member.node.start(self.now))
        self.settle()

    def kill(self, *numbers):
        """As kill -9 does: what was written stays, connections break."""
        for number in numbers:
            member = self.members[number]
            member.node, member.life = None, member.life + 1
        for number in numbers:
            self._break_connections(self.members[number])
        self.settle()

    def lose_power(self, *numbers):
        """Killed, and what was not synced is lost."""
        self.kill(*numbers)
        for number in numbers:
            self.members[number].disk.crash(Random(number))

    def fail_syncs(self, number, path):
        """From now on nothing under `path` gets to a node's disk."""
        disk = self.members[number].disk

        def check_sync(synced):
            if synced.startswith(path):
                raise OSError(errno.EIO, "cannot be written", synced)

        disk.check_sync = check_sync

    def _break_connections(self, member):
        for waiting in [entry for line in member.waiting.values() for entry in line]:
            waiting[1](None)
        member.waiting = {}
        for other in self.up():
            for who in [who for who in other.conns if who[0] == member.number]:
                self._step(other, Disconnected(other.conns.pop(who)))

    def stop(self, number):
        member = self.members[number]
        self._carry_out(member, member.node.leave(self.now))
        self.settle()
        for _ in range(100):
            if member.node.has_left:
                break
            self.pass_time(100)
        self._carry_out(member, member.node.resign(self.now))
        self.settle()
        clean = member.node.stop(self.now)
        self.kill(number)
        return clean

    # ── time ─────────────────────────────────────────────────────────────────────────

    def pass_time(self, ms, step=10):
        """Let time pass; nodes are woken when they want to be."""
        until = self.now + ms
        while self.now < until:
            self.now = min(until, self.now + step)
            for due in [each for each in self._stuck if each[0] <= self.now]:
                self._stuck.remove(due)
                due[1]()
            for member in self.members.values():
                if member.number in self.paused:
                    continue
                for _ in range(20):
                    if member.node is None or member.node.next_deadline() > self.now:
                        break
                    self._step(member, Woken())
            self.settle()

    def until(self, condition, ms=60_000):
        """Let time pass until something holds."""
        waited = 0
        while not condition():
            assert waited < ms, "it does not come to that"
            self.pass_time(20)
            waited += 20

    def settle(self):
        """Do everything that needs no time."""
        for _ in range(100_000):
            if not self._queue:
                return
            self._queue.popleft()()
        raise AssertionError("they do not come to rest")

    # ── what goes between them ───────────────────────────────────────────────────────

    def _step(self, member, event):
        if member.node is not None:
            self._carry_out(member, member.node.step(event, self.now))

    def _carry_out(self, member, effects):
        life = member.life
        for effect in effects:
            if isinstance(effect, Call):
                self._call(member, life, effect)
            elif isinstance(effect, Flush):
                self._later(member, life, Flushed(effect.token, _synced(effect.files)))
            elif isinstance(effect, Reply):
                self._reply(member, effect)
            elif isinstance(effect, Close):
                for _, then, _ in member.waiting.pop(effect.conn, ()):
                    then(None)

    def _reply(self, member, reply):
        line = member.waiting.get(member.tickets.pop(reply.ticket), [])
        for entry in line:
            if entry[0] == reply.ticket:
                entry[2] = b"" if reply.parts is None else b"".join(map(_bytes, reply.parts))
        while line and line[0][2] is not None:
            _, then, frame = line.pop(0)
            if frame:
                then(frame)

    def _later(self, member, life, event):
        self._queue.append(lambda: self._step(member, event) if member.life == life else None)

    def _call(self, caller, life, call):
        to = self._at(call.to)

        def unanswered(reason):
            self._later(caller, life, Unanswered(call.token, reason))

        until = self.now + call.timeout_ms

        def in_vain(again):
            self._stuck.append((until, lambda: unanswered("time is up"), again))

        def arrive():
            if to is None or to.node is None:
                unanswered("nobody is there")
            elif not self._reachable(caller.number, to.number):
                in_vain(arrive)
            elif call.to.port == 9092 and not to.node.is_settled:
                unanswered("refused")
            else:
                frame = b"".join(map(_bytes, call.parts))
                listener = "CONTROLLER" if call.to.port == 9093 else "PLAINTEXT"
                self._ask(to, (caller.number, caller.life, call.lane, listener), listener, frame, answer)

        def answer(frame):
            if caller.node is None or caller.life != life:
                return
            if frame is None:
                unanswered("lost")
            elif not self._reachable(to.number, caller.number):
                in_vain(lambda: answer(frame))
            else:
                self._later(caller, life, Answered(call.token, memoryview(bytearray(frame))))

        self._queue.append(arrive)

    def _ask(self, to, who, listener, frame, then):
        if who not in to.conns:
            self._conn += 1
            to.conns[who] = self._conn
            self._step(to, Connected(self._conn, listener, "somewhere"))
        self._ticket += 1
        conn = to.tickets[self._ticket] = to.conns[who]
        to.waiting.setdefault(conn, []).append([self._ticket, then, None])
        self._step(to, Received(conn, self._ticket, memoryview(bytearray(frame))))

    def _at(self, address):
        assert isinstance(address, Address)
        return self.members.get(int(address.host.removeprefix("node-")))

    def _reachable(self, a, b):
        return (a, b) not in self.cut and not {a, b} & self.paused

    def isolate(self, *numbers):
        """Cut all ways between these nodes and the others; clients still reach all."""
        others = [number for number in self.members if number not in numbers]
        self.cut |= {pair for a in numbers for b in others for pair in ((a, b), (b, a))}

    def heal(self, keep=()):
        """Everything gets through again, what was sent before too; but for the ways to keep cut."""
        self.cut = set(keep)
        self.paused.clear()
        stuck, self._stuck = self._stuck, []
        self._queue.extend(again for _, _, again in stuck)
        self.settle()

    # ── clients ──────────────────────────────────────────────────────────────────────

    def ask(self, number, body, version=None, listener="PLAINTEXT"):
        """Ask a node as a client would, over a connection of its own; a list that the answer comes into, or None if the
        node hangs up."""
        member = self.members[number]
        api = APIS[type(body).__api_key__]
        version = api.versions[1] if version is None else version
        answers = []

        def then(frame):
            if frame is None:
                answers.append(None)
                return
            _, position = decode_response_header(frame, 0, len(frame), api.key, version)
            answers.append(decode_message(api.response, version, frame[position:]))

        frame = encode_request_header(api.key, version, 7, "test") + encode_message(body, version)
        self._ask(member, ("client", self._ticket), listener, frame, then)
        self.settle()
        return answers

    def answer(self, number, body, version=None, ms=40_000, listener="PLAINTEXT"):
        """The answer of a node, however long it takes."""
        answers = self.ask(number, body, version, listener)
        self.until(lambda: answers, ms)
        return answers[0]

    # ── looking ──────────────────────────────────────────────────────────────────────

    def up(self):
        return [member for member in self.members.values() if member.node is not None]

    def broker(self, number):
        return self.members[number].node.broker

    @property
    def controller(self):
        """The number of the node that leads the metadata, if all agree."""
        said = {m.node.broker.raft.leader for m in self.up()}
        return said.pop() if len(said) == 1 else None

    def all_ready(self):
        return all(member.node.ready for member in self.up())

    def partition(self, number, topic, index=0):
        return self.broker(number).replica_manager.get((topic, index))

    @property
    def image(self):
        """What the node knows that has read the most of the metadata."""
        return max((m.node.broker.metadata for m in self.up()), key=lambda known: known.applied).image

    def leader_of(self, topic, index=0):
        return self.image_of(topic, index).leader

    def image_of(self, topic, index=0):
        return self.image.topics[topic].partitions[index]


def _bytes(part):
    return part.read() if isinstance(part, FileSlice) else bytes(part)


def _synced(files):
    """What keeps files from getting to the disk; None if nothing does."""
    try:
        for file in files:
            file.sync()
    except OSError as error:
        return str(error)
    return None
