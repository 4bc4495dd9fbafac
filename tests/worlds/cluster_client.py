"""What clients do to a small cluster: topics and records; each as a client with fresh metadata would."""

from andiron.model.ids import NO_TOPIC_ID
from andiron.records.batch import iterate
from andiron.records.builder import build
from andiron.records.record import Record, records_of
from andiron.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from andiron.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from andiron.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from andiron.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from worlds.cluster import SmallCluster
from worlds.node import error_of, records_in


def ready(cluster):
    """A cluster whose nodes are all let in."""
    cluster.until(lambda: cluster.controller is not None and cluster.all_ready())
    return cluster


def small_cluster(*args, **more):
    return ready(SmallCluster(*args, **more))


# ── topics ───────────────────────────────────────────────────────────────────────────


def create(cluster, name, replicas=(1, 2, 3), node=None, **configs):
    """A topic with a partition for each list of replicas (or with one, if the list is flat), known everywhere."""
    lists = [replicas] if isinstance(replicas[0], int) else replicas
    wanted = [CreatableTopicConfig(key.replace("_", "."), str(value)) for key, value in configs.items()]
    placed = [CreatableReplicaAssignment(index, list(each)) for index, each in enumerate(lists)]
    topic = CreatableTopic(name, -1, -1, placed, wanted)
    result = cluster.answer(node or some_broker(cluster), CreateTopicsRequest([topic], 30_000)).topics[0]
    assert result.error_code == 0, (error_of(result), result.error_message)
    cluster.until(lambda: all(name in broker.image.topics for broker in brokers(cluster)))
    return result.topic_id


def delete(cluster, name, node=None):
    request = DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=30_000)
    result = cluster.answer(node or some_broker(cluster), request).responses[0]
    assert result.error_code == 0, error_of(result)


def move(cluster, replicas, topic="t", partition=0, node=1):
    """Have these replicas, or call a move off."""
    part = ReassignablePartition(partition, replicas if replicas is None else list(replicas))
    answer = cluster.answer(
        node, AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(topic, [part])])
    )
    assert answer.error_code == 0
    return error_of(answer.responses[0].partitions[0])


def brokers(cluster):
    return [member.node.broker for member in cluster.up() if member.number not in cluster.without_broker]


def some_broker(cluster):
    return brokers(cluster)[0].settings.node_id


# ── records ──────────────────────────────────────────────────────────────────────────


def produce_request(
    cluster, topic, *values, partition=0, acks=-1, timeout_ms=5_000, transaction=None, **batch
):
    records = build([Record(0, cluster.now, None, value) for value in values], **batch)
    id = cluster.image.topics[topic].id
    data = TopicProduceData("", id, [PartitionProduceData(partition, records)])
    return ProduceRequest(transaction, acks, timeout_ms, [data])


def begin_produce(cluster, topic, *values, to=None, partition=0, **how):
    """Send records; a list that the partition's answer comes into."""
    to = to or cluster.leader_of(topic, partition)
    return cluster.ask(to, produce_request(cluster, topic, *values, partition=partition, **how))


def produced(answers):
    return answers[0].responses[0].partition_responses[0]


def produce(cluster, topic, *values, **how):
    """Send records to the leader, or to the node named; the partition's answer, whatever it is."""
    answers = begin_produce(cluster, topic, *values, **how)
    cluster.until(lambda: answers)
    return produced(answers)


def write(cluster, topic, *values, **how):
    """Send records that are taken; their first offset."""
    answer = produce(cluster, topic, *values, **how)
    assert answer.error_code == 0, (error_of(answer), answer.error_message)
    return answer.base_offset


def fetch_request(
    cluster, topic, offset=0, *, partition=0, wait_ms=0, epoch=-1, last_epoch=-1, by_name=False, **how
):
    wanted = FetchPartition(partition, epoch, offset, last_epoch, partition_max_bytes=1 << 20)
    name, id = (topic, NO_TOPIC_ID) if by_name else ("", cluster.image.topics[topic].id)
    return FetchRequest(
        max_wait_ms=wait_ms, min_bytes=1, max_bytes=1 << 20, topics=[FetchTopic(name, id, [wanted])], **how
    )


def fetch(cluster, topic, offset=0, *, frm=None, version=17, partition=0, **how):
    """What one fetch gives of a partition."""
    request = fetch_request(cluster, topic, offset, partition=partition, by_name=version < 13, **how)
    response = cluster.answer(frm or cluster.leader_of(topic, partition), request, version)
    return response.responses[0].partitions[0]


def read(cluster, topic, *, frm=None, partition=0, **how):
    """Everything that a consumer shows of a partition; of aborted transactions nothing, where it asks for that."""
    found, offset = [], 0
    while True:
        answer = fetch(cluster, topic, offset, frm=frm, partition=partition, **how)
        assert answer.error_code == 0, error_of(answer)
        offset = max(offset, answer.log_start_offset)
        batches = list(iterate(bytes(answer.records or b"")))
        if not batches:
            return found
        found += [record.value for record in _shown(batches, answer, offset)]
        offset = batches[-1].next_offset


def _shown(batches, answer, offset):
    """The records for the application: no markers, and nothing of a producer between its first aborted record and its
    marker."""
    begins = {(each.producer_id, each.first_offset) for each in answer.aborted_transactions or ()}
    aborted = set()
    for batch in batches:
        aborted |= {id for id, first in begins if first <= batch.base_offset and id == batch.producer_id}
        if batch.is_control:
            begins = {
                (id, first) for id, first in begins if id != batch.producer_id or first > batch.base_offset
            }
            aborted.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborted):
            yield from (record for record in records_of(batch) if record.offset >= offset)


def latest(cluster, topic, *, node=None, partition=0, version=9, timestamp=-1, **how):
    """What ListOffsets says of the end."""
    wanted = ListOffsetsPartition(partition, -1, timestamp)
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, [wanted])])
    node = node or cluster.leader_of(topic, partition)
    return cluster.answer(node, request, version).topics[0].partitions[0]


# ── looking ──────────────────────────────────────────────────────────────────────────


def in_log(cluster, number, topic, partition=0):
    """All values that lie in a node's log, committed or not."""
    held = cluster.partition(number, topic, partition).log
    found, offset = [], held.start
    while offset < held.end:
        records = records_in(held.read(offset, 1 << 20, held.end, at_least_one=True).read())
        found += [record.value for record in records if record.offset >= offset]
        offset = records[-1].offset + 1
    return found


def isr(cluster, topic, partition=0):
    return sorted(cluster.image_of(topic, partition).isr)


def all_in_sync(cluster, topic, partition=0):
    image = cluster.image_of(topic, partition)
    return sorted(image.isr) == sorted(image.replicas)


def ends(cluster, topic, partition=0):
    """Where the log of each replica that is up ends."""
    held = {m.number: m.node.broker.replica_manager.get((topic, partition)) for m in cluster.up()}
    return {number: part.log.end for number, part in held.items() if part is not None}
