"""At least once, which is what most programs want: process first, then commit.

What was processed and not yet committed when the worker dies is processed again, and nothing is lost. So
processing a record twice must do no harm.
"""

from __future__ import annotations

from confluent_kafka import Consumer, Producer
from stage import Job, play


def loop(job: Job) -> None:
    producer = Producer({"bootstrap.servers": job.bootstrap})
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap,
            "group.id": f"at-least-once {job.orders}",
            "group.instance.id": "worker",  # who comes back under this name goes on at once, without a rebalance
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    for batch in job.batches(consumer):
        for order in batch:
            job.process(order, producer)  # dying here repeats the beginning of the batch
        consumer.commit(asynchronous=False)
    consumer.close()


if __name__ == "__main__":
    play(loop)
