"""Writes sample orders to the topic, as many at a time as it is asked for.

    Feed(…).send(50) … .send(50) ──▶ ticks 0 to 49, 50 to 99, … of the sample ──▶ orders

What was sent is acknowledged when `send` returns. By itself it is a program:

    python pipelines/orders/feed.py --orders 10000 --seed 7 --bootstrap localhost:9092

Read next: sample.py, on what an order is.
"""

from __future__ import annotations

import argparse

from sample import Sample

from andiron.client.blocking.client import Client
from andiron.client.blocking.column_producer import ColumnProducer
from andiron.client.settings import ProducerSettings

CHUNK = 10_000


class Feed:
    """A sample on its way into a topic."""

    def __init__(self, bootstrap: str, topic: str, sample: Sample) -> None:
        self.sample = sample
        self._topic = topic
        self.sent = 0  # ticks
        self._client = Client(bootstrap)
        self._producer = ColumnProducer(self._client, ProducerSettings(compression_type="lz4"))

    def send(self, count: int) -> None:
        """Write what happens in the next so many ticks, in each of which an order is created."""
        end = min(self.sent + count, self.sample.ticks)
        rows = self.sample.records(self.sent, end)
        self.sent = end
        self._producer.send(self._topic, rows)
        self._producer.flush()

    def finish(self) -> None:
        """Write what still happens to orders that are there already."""
        self.send(self.sample.ticks)

    def close(self) -> None:
        """Hang up."""
        self._producer.close()
        self._client.close()


def main() -> None:
    """Write a whole sample, as fast as it goes."""
    options = argparse.ArgumentParser(description="Write sample orders to a topic.")
    options.add_argument("--bootstrap", default="localhost:9092")
    options.add_argument("--topic", default="orders")
    options.add_argument("--orders", type=int, default=1_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--malformed", type=float, default=0.01, help="malformed records for each order")
    given = options.parse_args()
    feed = Feed(given.bootstrap, given.topic, Sample(given.seed, given.orders, malformed=given.malformed))
    while feed.sent < given.orders:
        feed.send(min(CHUNK, given.orders - feed.sent))
    feed.finish()
    feed.close()
    print(f"{given.orders:,} orders written to {given.topic}")


if __name__ == "__main__":
    main()
