"""A node for the sink's own edge: small, quick to time out, with two-phase commit or without."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.transaction_admin import TransactionAdmin
from andiron.spark.sink.options import SinkOptions, parse_sink_options
from andiron.spark.sink.record_columns import RecordColumns
from peers.node import Node
from peers.topics import Topics

SETTINGS = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "50",
}
NUMBERS = itertools.count()


class Field:
    """A node and a client, and names that no other test uses."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.client = Client(node.bootstrap)
        self.admin, self.transactions = Admin(self.client), TransactionAdmin(self.client)
        self.topics = Topics(node.bootstrap, f"field-{next(NUMBERS)}")

    def close(self) -> None:
        self.client.close()

    def new_query(self) -> str:
        return f"query-{next(NUMBERS)}"

    def options(self, **given: str) -> SinkOptions:
        told = {"kafka.bootstrap.servers": self.node.bootstrap}
        return parse_sink_options(
            told | {name.replace("__", "."): each for name, each in given.items()}, streaming=True
        )

    def state(self, transactional_id: str) -> str:
        return self.transactions.describe(transactional_id).state


def node_in(folder: Path, **settings: str) -> Node:
    return Node(
        folder, settings={**SETTINGS, **{name.replace("_", "."): each for name, each in settings.items()}}
    )


def rows(values: Iterable[Any]) -> pa.RecordBatch:
    return pa.record_batch({"value": [str(each) for each in values]})


def into(topic: str) -> RecordColumns:
    return RecordColumns((("value", 0),), topic)
