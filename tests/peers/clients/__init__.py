"""Kafka's clients behind one interface, so that a test asks the same of each.

`connect("aiokafka", bootstrap)` gives an adapter; `those_that("delete_records")` names the clients which can
do something. A library that is not installed raises `peers.jars.Missing` at `connect`, and a test is skipped.

Read next: base.py.
"""

from __future__ import annotations

from importlib import import_module

from peers.clients.base import Client, Record, Refused
from peers.jars import Missing

__all__ = ["ADAPTERS", "Client", "Record", "Refused", "connect", "those_that"]

ADAPTERS = {
    "confluent": "peers.clients.confluent:Confluent",
    "kafka_python": "peers.clients.kafka_python:KafkaPython",
    "aiokafka": "peers.clients.aio:AioKafka",
    "kcat": "peers.clients.kcat:Kcat",
    "java": "peers.clients.java:Java",
}


def connect(name: str, bootstrap: str) -> Client:
    """An adapter of that name for the cluster at `bootstrap`."""
    return adapter(name)(bootstrap)


def adapter(name: str) -> type[Client]:
    module, _, cls = ADAPTERS[name].partition(":")
    try:
        found: type[Client] = getattr(import_module(module), cls)
    except ImportError as error:
        raise Missing(f"{name} is not installed ({error})") from error
    return found


def those_that(*calls: str) -> list[str]:
    """The clients which offer all these calls; one that is not installed counts, and is skipped later."""
    found = []
    for name in ADAPTERS:
        try:
            cls = adapter(name)
        except Missing:
            found.append(name)
            continue
        if all(getattr(cls, call) is not getattr(Client, call) for call in calls):
            found.append(name)
    return found
