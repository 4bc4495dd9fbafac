"""A node without an edge: requests go in as frames, fsyncs and jobs are done when the test says so."""

from andiron.broker.handlers import HANDLERS
from andiron.broker.node.node import Node
from andiron.broker.settings.node_settings import NodeSettings
from andiron.model.effects import Close, Connected, Finished, Flush, Flushed, Received, Reply, Woken, Work
from andiron.model.errors import AndironError, ErrorCode
from andiron.model.ids import NO_TOPIC_ID
from andiron.records.batch import iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of
from andiron.sim.disk import MemoryDisk
from andiron.wire.apis import APIS
from andiron.wire.codec import decode_message, encode_message
from andiron.wire.header import decode_response_header, encode_request_header
from andiron.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from andiron.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

PROPERTIES = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "log.dirs": "/data",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
START = 1_700_000_000_000
TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1


def error_of(answer):
    """The name of an answer's error, which reads better than its number."""
    return ErrorCode.of(answer.error_code).name


def _best_version(api):
    """What a client would speak: the highest version that is served."""
    return HANDLERS[api.key].served[1] if api.key in HANDLERS else api.versions[1]


def records_in(data):
    """The records of the batches that a fetch gave."""
    return [record for batch in iterate(bytes(data)) for record in records_of(batch)]


class Closed(Exception):
    """The node hung up; the message is its reason."""


class SmallNode:
    """A node, its disk and its clock. Unless told to wait, fsyncs are done as soon as they are asked for."""

    def __init__(self, disk=None, seed=1, now=START, **properties):
        self.disk = disk or MemoryDisk()
        self.properties = PROPERTIES | {name.replace("_", "."): value for name, value in properties.items()}
        self.now, self.seed = now, seed
        self.flushes, self.work, self.replies, self.closed = [], [], {}, {}
        self.flush_at_once = True
        self._ticket = 0
        self._asked = {}
        self.start()

    def make_node(self):
        return Node(NodeSettings.load(self.properties), self.disk, self.seed)

    def start(self):
        self.node = self.make_node()
        self.carry_out(self.node.start(self.now))
        while self.node.broker.replica_manager.is_behind:
            self.step(Woken())
        assert self.node.ready
        self.connect(1)

    def restart(self, clean=True):
        if clean:
            self.node.stop(self.now)
        self.flushes, self.work, self.seed = [], [], self.seed + 1
        self.start()

    def step(self, event):
        self.carry_out(self.node.step(event, self.now))

    def carry_out(self, effects):
        for effect in effects:
            if isinstance(effect, Reply):
                assert effect.ticket not in self.replies, "one reply a ticket"
                self.replies[effect.ticket] = effect.parts
            elif isinstance(effect, Close):
                self.closed[effect.conn] = effect.reason
            elif isinstance(effect, Flush):
                self.flushes.append(effect)
            elif isinstance(effect, Work):
                self.work.append(effect)
        if self.flush_at_once:
            self.do_flushes()

    def do_flushes(self, error=None):
        while self.flushes:
            self.do_flush(error)

    def do_flush(self, error=None):
        flush = self.flushes.pop(0)
        try:
            for file in flush.files if error is None else ():
                file.sync()
        except OSError as trouble:
            error = str(trouble)
        self.step(Flushed(flush.token, error))

    def do_work(self):
        while self.work:
            work, result, error = self.work.pop(0), None, None
            try:
                result = work.job.run(self.disk)
            except (OSError, AndironError) as problem:
                error = str(problem)
            self.step(Finished(work.token, result, error))

    def wake(self):
        self.step(Woken())

    def settle(self):
        """Let everything be done that is due already: coordinators are loaded, for one."""
        while self.node.next_deadline() <= self.now:
            self.wake()

    def advance(self, ms):
        """Let time pass, waking the node whenever it wants to be woken."""
        until = self.now + ms
        while self.node.next_deadline() <= until:
            self.now = max(self.now, self.node.next_deadline())
            self.wake()
        self.now = until

    def send(self, request, version=None, conn=1, client_id="test"):
        """Send a request; returns its ticket."""
        api = next(a for a in APIS.values() if a.key == request.__api_key__)
        version = _best_version(api) if version is None else version
        self._ticket += 1
        self._asked[self._ticket] = api, version
        frame = encode_request_header(api.key, version, self._ticket, client_id) + encode_message(
            request, version
        )
        self.step(Received(conn, self._ticket, memoryview(bytearray(frame))))
        return self._ticket

    def answer(self, ticket):
        """The response to a ticket; None if there is none yet (or none to come)."""
        parts = self.replies.get(ticket)
        if parts is None:
            return None
        api, version = self._asked[ticket]
        frame = b"".join(bytes(part.read()) if hasattr(part, "read") else bytes(part) for part in parts)
        correlation, position = decode_response_header(frame, 0, len(frame), api.key, version)
        assert correlation == ticket
        return decode_message(api.response, version, memoryview(frame)[position:])

    def ask(self, request, version=None, conn=1, client_id="test"):
        """Send a request and return its response, which must come at once."""
        ticket = self.send(request, version, conn, client_id)
        if conn in self.closed:
            raise Closed(self.closed.pop(conn))
        assert ticket in self.replies, f"{request} waits"
        return self.answer(ticket)

    def ask_raw(self, key, version, body, read_as=None, conn=1):
        """Send any bytes as the body of a request; the response is read in version `read_as`."""
        self._ticket += 1
        self._asked[self._ticket] = APIS.get(key), version if read_as is None else read_as
        frame = encode_request_header(key, version, self._ticket, "test") + body
        self.step(Received(conn, self._ticket, memoryview(bytearray(frame))))
        if conn in self.closed:
            raise Closed(self.closed.pop(conn))
        return self.answer(self._ticket)

    def connect(self, conn, listener="PLAINTEXT"):
        self.step(Connected(conn, listener, "127.0.0.1"))

    # ── things most tests do ─────────────────────────────────────────────────────────

    def create_request(self, name, partitions=1, **configs):
        wanted = [CreatableTopicConfig(key.replace("_", "."), str(value)) for key, value in configs.items()]
        return CreateTopicsRequest([CreatableTopic(name, partitions, 1, configs=wanted)], timeout_ms=1_000)

    def create(self, name, partitions=1, **configs):
        result = self.ask(self.create_request(name, partitions, **configs)).topics[0]
        assert result.error_code == 0, result.error_message
        while self.node.broker.replica_manager.is_behind:
            self.wake()
        return result

    def delete_request(self, *topics):
        return DeleteTopicsRequest([DeleteTopicState(topic) for topic in topics], timeout_ms=1_000)

    def delete(self, *topics):
        response = self.ask(self.delete_request(*topics))
        assert [result.error_code for result in response.responses] == [0] * len(topics)

    def delete_records(self, topic, offset, partition=0):
        wanted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])
        return self.ask(DeleteRecordsRequest([wanted], 1_000)).topics[0].partitions[0]

    def alter_request(self, kind, name, configs):
        """Set some settings; None takes one back."""
        changes = [
            AlterableConfig(key.replace("_", "."), DELETE if value is None else SET, value and str(value))
            for key, value in configs.items()
        ]
        return IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, changes)])

    def alter_topic(self, topic, **configs):
        return self.send(self.alter_request(TOPIC, topic, configs))

    def alter_broker(self, name="", **configs):
        return self.send(self.alter_request(BROKER, name, configs))

    def produce_request(self, topic, values, partition=0, acks=-1, timeout_ms=1_000, **batch):
        records = batch.pop("records", None)
        if records is None:
            records = build([Record(0, self.now, None, value) for value in values], **batch)
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(partition, records)])
        return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[data])

    def produce(self, topic, *values, version=9, conn=1, **how):
        response = self.ask(self.produce_request(topic, values, **how), version, conn)
        return response and response.responses[0].partition_responses[0]

    def keyed(self, key, *values, producer=(-1, -1, -1)):
        """A batch whose records all have this key."""
        producer_id, epoch, sequence = producer
        records = [Record(0, self.now, key, value) for value in values]
        return build(records, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)

    def fetch_request(
        self, topic, offset=0, partition=0, *, wait_ms=0, min_bytes=1, max_bytes=1 << 20,
        partition_bytes=1 << 20, epoch=-1, **how,
    ):  # fmt: skip
        """A fetch of one partition, by the topic's name or, given as bytes, by its id."""
        wanted = FetchPartition(partition, epoch, offset, partition_max_bytes=partition_bytes)
        name, topic_id = ("", topic) if isinstance(topic, bytes) else (topic, NO_TOPIC_ID)
        topics = [FetchTopic(name, topic_id, [wanted])]
        return FetchRequest(
            max_wait_ms=wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, topics=topics, **how
        )

    def fetch(self, topic, offset=0, *, version=12, **how):
        response = self.ask(self.fetch_request(topic, offset, **how), version)
        return response.responses[0].partitions[0]

    def values(self, topic, partition=0):
        """Everything a consumer can read of a partition, from its start on."""
        log = self.log(topic, partition)
        found, offset = [], log.start
        while True:
            records = [
                r
                for r in records_in(self.fetch(topic, offset, partition=partition).records)
                if r.offset >= offset
            ]
            if not records:
                return found
            found += [record.value for record in records]
            offset = records[-1].offset + 1

    def partition(self, topic, partition=0):
        return self.node.broker.partition_by_name(topic, partition)

    def log(self, topic, partition=0):
        return self.partition(topic, partition).log
