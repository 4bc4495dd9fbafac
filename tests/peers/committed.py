"""What a group has committed, as its coordinator tells it to somebody who is no member."""

from __future__ import annotations

import time

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException
from confluent_kafka.admin import AdminClient

PATIENCE_S = 60.0
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, UNSTABLE_OFFSET_COMMIT
SOON = {14, 15, 16, 88}


def committed_offsets(bootstrap: str, group: str, topic: str) -> dict[int, int]:
    """Partition → offset, of the topic's partitions that have one; waits for transactions that would change it."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    until = time.monotonic() + PATIENCE_S
    while True:
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], require_stable=True)
        try:
            found = asked[group].result(PATIENCE_S).topic_partitions
        except KafkaException as error:
            if error.args[0].code() not in SOON or time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return {place.partition: place.offset for place in found if place.topic == topic}
