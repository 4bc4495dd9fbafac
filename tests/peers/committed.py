"""What a group has committed, as its coordinator tells it to somebody who is no member."""

from __future__ import annotations

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

PATIENCE_S = 60.0


def committed_offsets(bootstrap: str, group: str, topic: str) -> dict[int, int]:
    """Partition → offset, of the topic's partitions that have one; waits for transactions that would change it."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], require_stable=True)
    found = asked[group].result(PATIENCE_S).topic_partitions
    return {place.partition: place.offset for place in found if place.topic == topic}
