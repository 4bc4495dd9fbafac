"""At most once: commit first, then process.

What was committed and not yet processed when the worker dies is lost, and nothing is done twice. It is for what may
have gaps: metrics, debug logs.
"""

from __future__ import annotations

from confluent_kafka import Consumer, Producer
from stage import Job, play


def loop(job: Job) -> None:
    producer = Producer({"bootstrap.servers": job.bootstrap})
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap,
            "group.id": f"at-most-once {job.orders}",
            "group.instance.id": "worker",  # who comes back under this name goes on at once, without a rebalance
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    for batch in job.batches(consumer):
        consumer.commit(asynchronous=False)
        for order in batch:
            job.process(order, producer)  # dying here loses the rest of the batch
    consumer.close()


if __name__ == "__main__":
    play(loop)
