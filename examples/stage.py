"""The stage for the three delivery loops: a node, orders to work through, a worker that dies at it, and a verdict.

    orders ──▶ a worker, with the loop of the example ──▶ invoices
                 killed in the middle of a batch, and started again

The worker is a process of its own and is killed with SIGKILL, so nothing of it is left to tidy up after it. When
its successor has come to the last order, the invoices are compared with the orders: what is missing was lost, and
what is there twice was repeated. A real program needs nothing of what is in this file.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

ORDERS, BATCH = 100, 10
DEADLY = 46  # the order at which the first worker is killed: the sixth of its batch


@dataclass(frozen=True)
class Job:
    """What a worker is told: where the node is, and between which topics it works."""

    bootstrap: str
    orders: str
    invoices: str
    mortal: bool

    def batches(self, consumer: Consumer) -> Iterator[list[Message]]:
        """Some orders at a time, until the last one."""
        consumer.subscribe([self.orders])
        last = ""
        while last != f"order {ORDERS}":
            if messages := consumer.consume(BATCH, timeout=1.0):
                last = value(messages[-1])
                yield messages

    def process(self, order: Message, producer: Producer) -> None:
        """Write an invoice, and wait until it is written; the first worker does not live to write them all."""
        if self.mortal and value(order) == f"order {DEADLY}":
            os.kill(os.getpid(), signal.SIGKILL)
        producer.produce(self.invoices, value(order).replace("order", "invoice"))
        producer.flush()


def play(loop: Callable[[Job], None]) -> None:
    """Run an example; its own file is started again for each worker."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--bootstrap", help="a node that runs already; else one is started for this example")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        orders, invoices, mortal = given.worker
        loop(Job(given.bootstrap, orders, invoices, mortal == "mortal"))
    elif given.bootstrap:
        stage(given.bootstrap)
    else:
        with node() as bootstrap:
            stage(bootstrap)


@contextmanager
def node() -> Iterator[str]:
    """A node with its data in a temporary folder, for as long as the example takes."""
    with tempfile.TemporaryDirectory() as data:
        up = [sys.executable, "-m", "andiron", "up", "--data", data, "--port", "0"]
        with subprocess.Popen(up, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            assert process.stdout
            first = process.stdout.readline()  # "andiron 1.0: node 1 serves localhost:12345"
            try:
                yield first.split()[-1]
            finally:
                process.terminate()


def stage(bootstrap: str) -> None:
    job = Job(bootstrap, f"orders-{os.getpid()}", f"invoices-{os.getpid()}", mortal=True)
    write_orders(job)
    print(f"{ORDERS} orders, {BATCH} at a time; the worker is killed at order {DEADLY} and started again")
    for fate in ("mortal", "immortal"):
        worker = [sys.executable, sys.argv[0], "--bootstrap", bootstrap, "--worker"]
        subprocess.run([*worker, job.orders, job.invoices, fate], check=fate == "immortal")
    tell(job)


def write_orders(job: Job) -> None:
    topics = [NewTopic(name, num_partitions=1) for name in (job.orders, job.invoices)]
    admin = AdminClient({"bootstrap.servers": job.bootstrap})
    for created in admin.create_topics(topics).values():
        created.result()
    producer = Producer({"bootstrap.servers": job.bootstrap})
    for number in range(1, ORDERS + 1):
        producer.produce(job.orders, f"order {number}")
    producer.flush()


def tell(job: Job) -> None:
    """What became of the orders, as whoever reads the invoices finds it."""
    invoices = Counter(number_of(each) for each in read(job, "read_committed"))
    lost = [number for number in range(1, ORDERS + 1) if number not in invoices]
    repeated = [number for number, times in invoices.items() if times > 1]
    undone = sum(1 for _ in read(job, "read_uncommitted")) - invoices.total()
    print(f"  lost       {listed(lost)}")
    print(f"  repeated   {listed(repeated)}")
    if undone:
        print(
            f"  undone     {undone} invoices of the worker that was killed; no read_committed reader sees them"
        )
    print(f"verdict: {len(lost)} lost, {len(repeated)} repeated")


def read(job: Job, isolation: str) -> Iterator[Message]:
    """Every invoice there is."""
    settings = {"group.id": "nobody", "enable.partition.eof": True, "isolation.level": isolation}
    consumer = Consumer({"bootstrap.servers": job.bootstrap, **settings})
    consumer.assign([TopicPartition(job.invoices, 0, 0)])
    while message := consumer.poll(30):
        error = message.error()
        if error is None:
            yield message
        elif error.code() == KafkaError._PARTITION_EOF:
            break
    consumer.close()


def listed(numbers: list[int]) -> str:
    return f"{len(numbers)}: {' '.join(map(str, numbers))}" if numbers else "none"


def number_of(message: Message) -> int:
    return int(value(message).split()[1])


def value(message: Message) -> str:
    return (message.value() or b"").decode()
