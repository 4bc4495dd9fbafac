"""The client without a loop: every call returns when it is done.

    client = Client("localhost:9092")
    Admin(client).create_topic("orders", partitions=3)
    with Producer(client) as producer:
        producer.send("orders", b"a cup of tea", key=b"customer-42")
    for record in PartitionReader(client, TopicPartition("orders", 2), start=0, end=1):
        print(record.offset, record.value)
    for rows in ColumnReader(client, TopicPartition("orders", 2), start=0, end=1):
        print(rows.to_pandas())
    print(GroupAdmin(client).groups(), TransactionAdmin(client).transactions())
    print(ClusterAdmin(client).describe_quorum())

One thread to a client. The names are imported when first asked for, so that whoever only reads does not
load what writers need, and that who has no use for columns needs no pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from andiron.client.blocking.admin import Admin
    from andiron.client.blocking.client import Client
    from andiron.client.blocking.cluster_admin import ClusterAdmin
    from andiron.client.blocking.column_producer import ColumnProducer
    from andiron.client.blocking.column_reader import ColumnReader
    from andiron.client.blocking.group_admin import GroupAdmin
    from andiron.client.blocking.producer import Producer
    from andiron.client.blocking.reader import PartitionReader, Reader
    from andiron.client.blocking.transaction import Transaction, end_transaction
    from andiron.client.blocking.transaction_admin import TransactionAdmin

__all__ = [
    "Admin",
    "Client",
    "ClusterAdmin",
    "ColumnProducer",
    "ColumnReader",
    "GroupAdmin",
    "PartitionReader",
    "Producer",
    "Reader",
    "Transaction",
    "TransactionAdmin",
    "end_transaction",
]

_MODULES = {
    "Admin": "admin",
    "Client": "client",
    "ClusterAdmin": "cluster_admin",
    "ColumnProducer": "column_producer",
    "ColumnReader": "column_reader",
    "GroupAdmin": "group_admin",
    "PartitionReader": "reader",
    "Producer": "producer",
    "Reader": "reader",
    "Transaction": "transaction",
    "TransactionAdmin": "transaction_admin",
    "end_transaction": "transaction",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
