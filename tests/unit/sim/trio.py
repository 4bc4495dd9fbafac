"""Three real nodes without weather, watched by every law, and a client that finds its way among them."""

from __future__ import annotations

import logging

from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.ids import Millis, TopicPartition
from andiron.sim.clients.client import Client
from andiron.sim.clustered import CLUSTER_ID, _combined
from andiron.sim.host import Host
from andiron.sim.invariants import all_invariants
from andiron.sim.journal import Journal
from andiron.sim.leaders import leading
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirrors
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from unit.sim.quiet import CHECKPOINT_MS, SETTINGS

ORDERS = TopicPartition("orders", 0)
COMMON = SETTINGS | {
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "broker.heartbeat.interval.ms": "200",
    "broker.session.timeout.ms": "1500",
    "replica.lag.time.max.ms": "1500",
    "controller.quorum.election.timeout.ms": "300",
    "controller.quorum.fetch.timeout.ms": "600",
}


class Trio:
    """The world, and short words for what tests do in it."""

    def __init__(self, seed=1, tell=None, watched=True, properties=_combined):
        logging.getLogger("andiron").addHandler(logging.NullHandler())
        self.world = World(seed, tell)
        self.network = Network(self.world)
        self.mirrors, self.ledger, self.journal = Mirrors(), Ledger(), Journal()
        settings = [NodeSettings.load(each) for each in properties(COMMON, 3)]
        self.hosts = [Host(self.world, self.network, each) for each in settings]
        if watched:
            laws = all_invariants(
                self.mirrors, self.ledger, self.journal, CHECKPOINT_MS, durable=False, nodes=3
            )
            self.world.watch(laws)
        for host in self.hosts:
            host.format(CLUSTER_ID)
            host.start()
        self.run(until=lambda: all(host.is_open for host in self.hosts))
        self.client = Client(self.world, self.network, "tester")
        self.client.timeout_ms = 60_000

    # ── life ──

    def host(self, number):
        return self.hosts[number - 1]

    def run(self, ms=20_000, until=None):
        self.world.run(Millis(self.world.now + ms), until)

    def law(self, kind):
        return next(watcher for watcher in self.world.watchers if isinstance(watcher, kind))

    def is_at_rest(self):
        return all(host.is_open and host.is_idle for host in self.hosts) and not any(
            watcher.is_restless(host) for watcher in self.world.watchers for host in self.hosts
        )

    def rest(self):
        self.run(60_000, until=self.is_at_rest)
        for host in self.hosts:
            for watcher in self.world.watchers:
                watcher.rested(host)

    # ── asking ──

    def ask(self, body, version, at, **notes):
        answers = []
        exchange = self.client.ask(body, version, answers.append, via=self.client.connect(at))
        exchange.notes.update(notes)
        self.run(until=lambda: answers)
        assert answers, f"{exchange} is not answered"
        return exchange.response

    def create(self, topic="orders", partitions=1, replicas=3, **configs):
        wanted = [CreatableTopicConfig(name.replace("_", "."), str(value)) for name, value in configs.items()]
        request = CreateTopicsRequest([CreatableTopic(topic, partitions, replicas, [], wanted)])
        answer = self.ask(request, 5, self.hosts[0]).topics[0]
        self.run(until=lambda: leading(self.world, (topic, 0)) is not None)
        return answer

    def leader(self, name=ORDERS):
        found = leading(self.world, name)
        return found and found.host

    def followers(self, name=ORDERS):
        return [host for host in self.hosts if host is not self.leader(name)]

    def partition(self, host, name=ORDERS):
        return host.node.broker.replica_manager.get(name)

    def write(self, value=b"x", acks=-1, partition=ORDERS):
        sent = self.ledger.write(partition, [(self.world.now, None, value)], codec=0, producer=(-1, -1, -1))
        data = TopicProduceData(
            partition.topic, bytes(16), [PartitionProduceData(partition.partition, sent.data)]
        )
        request = ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=[data])
        return self.ask(request, 9, self.leader(partition), sent=[sent]).responses[0].partition_responses[0]
