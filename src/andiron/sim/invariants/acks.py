"""What is acknowledged stands in the log, and what was promised to be on the disk is.

An acknowledgement names an offset: the batch stands there, record by record. On a topic with
flush.messages=1 it also says that the batch survives a power loss, with acks=1 as with acks=all; on any
other that it survives the death of the process, as everything does that was written.

A batch may be refused as out of turn only if it is: not if it is the next of its producer, nor
if it is one that the node must know it has, the last of its producer or one of the last five that
came in during this node's life.
"""

from __future__ import annotations

from andiron.broker.replicas.partition import Partition
from andiron.model.errors import ErrorCode
from andiron.records.batch import Batch
from andiron.sim.exchange import Exchange
from andiron.sim.host import Host
from andiron.sim.invariants.excuse import Excuse
from andiron.sim.ledger import Sent
from andiron.sim.mirror import Mirror, Mirrors, StoredBatch
from andiron.sim.watcher import Violation, Watcher
from andiron.wire.apis import ApiKey

REMEMBERED_BATCHES = 5  # by Kafka's word, whatever the node thinks

STANDS = "what is acknowledged stands in the log"
TURN = "a batch in turn is not refused"


class AcksHold(Watcher):
    """Checks acknowledgements against the log, and remembers them."""

    def __init__(self, mirrors: Mirrors, excuse: Excuse) -> None:
        self._mirrors, self._excuse = mirrors, excuse

    def heard(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.PRODUCE:
            return
        assert host.node is not None
        broker = host.node.broker
        for sent in exchange.notes["sent"]:
            partition = broker.replica_manager.peek(sent.partition)
            if partition is not None:
                durable = partition.log.settings.flush_messages == 1
                mirror = self._mirrors.of(host, partition)
                exchange.notes[sent.number] = partition, durable, _must_know(host, mirror, sent)

    def said(self, host: Host, exchange: Exchange) -> None:
        if exchange.key != ApiKey.PRODUCE:
            return
        names = {topic.topic_id: topic.name for topic in exchange.body.topic_data}
        answers = {
            (topic.name or names[topic.topic_id], answer.index): answer
            for topic in exchange.response.responses
            for answer in topic.partition_responses
        }
        for sent in exchange.notes["sent"]:
            noted = exchange.notes.get(sent.number)
            if noted is not None and not noted[0].retired:
                partition, durable, must_know = noted
                answer = answers[sent.partition]
                code = ErrorCode.of(answer.error_code)
                if self._excuse.is_given and Batch(sent.data).is_transactional:
                    continue  # a coordinator that was robbed of its memory gives identities twice
                if code is ErrorCode.NONE:
                    self._acknowledged(host, partition, sent, answer.base_offset, durable=durable)
                elif code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and must_know:
                    raise Violation(TURN, f"{partition.name}: batch {sent.number} is {must_know}")

    def _acknowledged(
        self, host: Host, partition: Partition, sent: Sent, base: int, *, durable: bool
    ) -> None:
        mirror = self._mirrors.of(host, partition)
        for record in sent.records:
            stored = mirror.records.get(base + record.offset)
            if stored is None or (stored.key, stored.value, stored.headers) != record[2:]:
                raise Violation(STANDS, f"{partition.name}: batch {sent.number} is not at {base}")
        if durable and partition.log.settings.flush_messages == 1:
            mirror.keep(base + len(sent.records))


def _must_know(host: Host, mirror: Mirror, sent: Sent) -> str:
    """Why the node may not refuse this batch; "" if it may."""
    batch = Batch(sent.data)
    if batch.producer_id < 0 or batch.is_transactional:
        return ""  # whose turn it is in a transaction, its coordinator has a say in
    producer = batch.producer_id, batch.producer_epoch
    stored = [each for each in mirror.batches if each.producer == producer]
    if not stored:
        return "the first of its producer"
    if batch.base_sequence == stored[-1].last_sequence + 1:
        return "the next of its producer"
    if _is_remembered(host, stored, batch.base_sequence):
        return "known to be in the log"
    return ""


def _is_remembered(host: Host, stored: list[StoredBatch], base_sequence: int) -> bool:
    recent = [each for each in stored[-REMEMBERED_BATCHES:] if each.time >= host.started_at]
    return any(each.base_sequence == base_sequence for each in (*recent, stored[-1]))
