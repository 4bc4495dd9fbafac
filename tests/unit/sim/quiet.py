"""A small world without weather: one node, watched by every law, and a client that asks and waits."""

from __future__ import annotations

import logging

from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.ids import Millis, TopicPartition
from andiron.sim.clients.client import Client
from andiron.sim.host import Host
from andiron.sim.invariants import all_invariants
from andiron.sim.journal import Journal
from andiron.sim.ledger import Ledger
from andiron.sim.mirror import Mirrors
from andiron.sim.network import Network
from andiron.sim.world import World
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

CHECKPOINT_MS = 500
SETTINGS = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "log.dirs": "/data",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "2",
    "transaction.two.phase.commit.enable": "true",
    "log.flush.offset.checkpoint.interval.ms": str(CHECKPOINT_MS),
    "log.flush.start.offset.checkpoint.interval.ms": str(CHECKPOINT_MS),
    "log.cleaner.backoff.ms": "300",
    "log.retention.check.interval.ms": "1000",
}
ORDERS = TopicPartition("orders", 0)


class Quiet:
    """The world, and short words for what tests do in it."""

    def __init__(self, seed=1, tell=None, watched=True, durable=False):
        logging.getLogger("andiron").addHandler(logging.NullHandler())
        self.world = World(seed, tell)
        self.network = Network(self.world)
        self.host = Host(self.world, self.network, NodeSettings.load(SETTINGS))
        self.mirrors, self.ledger, self.journal = Mirrors(), Ledger(), Journal()
        if watched:
            laws = all_invariants(self.mirrors, self.ledger, self.journal, CHECKPOINT_MS, durable=durable)
            self.world.watch(laws)
        self.client = Client(self.world, self.network, "tester")
        self.client.timeout_ms = 60_000
        self.sequence = 0
        self.boot()

    # ── life ──

    def boot(self):
        self.host.start()
        self.run(until=lambda: self.host.is_open)
        self.client.connect(self.host)

    def run(self, ms=10_000, until=None):
        self.world.run(Millis(self.world.now + ms), until)

    def restart(self, end):
        """End the node by `end`, a method of the host, and start another."""
        end()
        self.run(until=lambda: not self.host.is_up)
        self.run(100)
        self.boot()

    def rest(self):
        self.run(until=lambda: self.host.is_idle)
        for watcher in self.world.watchers:
            watcher.rested(self.host)

    # ── asking ──

    def ask(self, body, version, **notes):
        answers = []
        exchange = self.client.ask(body, version, answers.append)
        exchange.notes.update(notes)
        self.run(until=lambda: answers)
        assert answers, f"{exchange} is not answered"
        return exchange.response

    def create(self, topic="orders", partitions=1, **configs):
        wanted = [CreatableTopicConfig(name.replace("_", "."), str(value)) for name, value in configs.items()]
        return self.ask(CreateTopicsRequest([CreatableTopic(topic, partitions, 1, [], wanted)]), 5).topics[0]

    def batch(self, *contents, producer=(-1, -1, -1), partition=ORDERS):
        """A batch of (key, value)."""
        records = [(self.world.now, key, value) for key, value in contents]
        return self.ledger.write(partition, records, codec=0, producer=producer)

    def produce(self, *batches, acks=-1):
        for sent in batches:
            topic, index = sent.partition
            data = TopicProduceData(topic, bytes(16), [PartitionProduceData(index, sent.data)])
            request = ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=[data])
            answer = self.ask(request, 9, sent=[sent]).responses[0].partition_responses[0]
        return answer

    def produce_request(self, *values, acks=-1):
        sent = self.batch(*((None, value) for value in values))
        data = TopicProduceData("orders", bytes(16), [PartitionProduceData(0, sent.data)])
        return ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=[data])

    def write(self, *values):
        """One batch of records without keys."""
        return self.produce(self.batch(*((None, value) for value in values)))

    def put(self, key, value):
        """One batch of one record."""
        return self.produce(self.batch((key, value)))

    def fetch(self, offset=0, partition=ORDERS):
        topic, index = partition
        place = FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic, bytes(16), [place])])
        response = self.ask(request, 12, places={partition: offset}, names={})
        return response.responses[0].partitions[0]

    def list_offset(self, timestamp):
        wanted = ListOffsetsTopic("orders", [ListOffsetsPartition(partition_index=0, timestamp=timestamp)])
        return self.ask(ListOffsetsRequest(replica_id=-1, topics=[wanted]), 7).topics[0].partitions[0]

    def delete_records(self, offset):
        wanted = DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, offset)])
        return self.ask(DeleteRecordsRequest([wanted], timeout_ms=1_000), 1).topics[0].partitions[0]

    # ── looking inside ──

    def partition(self, name=ORDERS):
        return self.host.node.broker.replica_manager.get(name)

    def mirror(self, name=ORDERS):
        return self.mirrors.of(self.host, self.partition(name))

    def path(self, base=0):
        return f"/data/orders-0/{base:020d}.log"
