"""Fetches of several partitions, and what they bring."""

from andiron.model.ids import NO_TOPIC_ID
from andiron.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from worlds.node import records_in


def asking(
    partitions, *, topic="t", wait_ms=0, min_bytes=1, max_bytes=1 << 20, partition_bytes=1 << 20, **how
):
    """A fetch of several partitions: number → offset."""
    wanted = [
        FetchPartition(p, -1, offset, partition_max_bytes=partition_bytes) for p, offset in partitions.items()
    ]
    topics = [FetchTopic(topic, NO_TOPIC_ID, wanted)] if wanted else []
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, topics=topics, **how)


def values(partition):
    return [record.value for record in records_in(partition.records)]


def told(response):
    """What a response says: partition → its values."""
    return {p.partition_index: values(p) for topic in response.responses for p in topic.partitions}


def sizes(response):
    """How many records of each partition."""
    return [len(values(p)) for topic in response.responses for p in topic.partitions]


def wait_for(node, request, version=12, conn=1):
    """Send a fetch that is not answered yet; its ticket."""
    ticket = node.send(request, version, conn)
    assert node.answer(ticket) is None
    return ticket


def fill_three_partitions(node):
    """Three batches of 100 bytes and a little in each."""
    node.create("t", partitions=3)
    for partition in range(3):
        for number in range(3):
            node.produce("t", bytes([number]) * 100, partition=partition)
