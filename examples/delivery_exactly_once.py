"""Exactly once: what is written and how far was read are one transaction.

When the worker dies, what it wrote of the batch is undone together with its offsets: the next worker, by taking over
its transactional id, aborts the transaction and begins the batch anew. It holds from Kafka to Kafka; what leaves
for a database needs a sink that knows a record when it sees it again.
"""

from __future__ import annotations

from confluent_kafka import Consumer, Producer
from stage import Job, play


def loop(job: Job) -> None:
    producer = Producer(
        {
            "bootstrap.servers": job.bootstrap,
            "transactional.id": f"worker {job.orders}",
            "log_level": 3,  # it would warn while the transaction of the one before is being undone
        }
    )
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap,
            "group.id": f"exactly-once {job.orders}",
            "group.instance.id": "worker",  # who comes back under this name goes on at once, without a rebalance
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    producer.init_transactions()
    for batch in job.batches(consumer):
        producer.begin_transaction()
        for order in batch:
            job.process(order, producer)  # dying here undoes the beginning of the batch
        read_so_far = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(read_so_far, consumer.consumer_group_metadata())
        producer.commit_transaction()
    consumer.close()


if __name__ == "__main__":
    play(loop)
