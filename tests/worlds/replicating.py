"""What clients ask of a small cluster (cluster.py): a topic on all of its nodes, and records in it."""

from andiron.model.ids import NO_TOPIC_ID
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData


def create(cluster, name, partitions=1, replicas=3):
    """Make a topic, which is then led somewhere."""
    asked = CreateTopicsRequest([CreatableTopic(name, partitions, replicas)], timeout_ms=5_000)
    number = next(member.number for member in cluster.up())
    assert cluster.answer(number, asked).topics[0].error_code == 0
    cluster.until(lambda: all(cluster.partition(node.number, name) is not None for node in cluster.up()))


def produce(cluster, topic, *values, partition=0, acks=-1, timestamp=None):
    """Write a batch to a partition's leader; the error of the answer."""
    time = cluster.now if timestamp is None else timestamp
    records = build([Record(at, time, None, value) for at, value in enumerate(values)])
    leader = cluster.leader_of(topic, partition)
    data = TopicProduceData(topic, NO_TOPIC_ID, [PartitionProduceData(partition, records)])
    asked = ProduceRequest(acks=acks, timeout_ms=5_000, topic_data=[data])
    return cluster.answer(leader, asked, 9).responses[0].partition_responses[0].error_code
