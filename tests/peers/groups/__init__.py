"""What clients ask of groups from outside: commit and look up offsets, list, describe and delete.

`connect("java", bootstrap)` gives an adapter; `each_client("delete_group")` runs a test once for every client
that can do something. To be a member of a group is another thing: see `peers.members`.

Read next: base.py.
"""

from __future__ import annotations

from importlib import import_module

import pytest

from peers.groups.base import Committed, Groups, Listed
from peers.jars import Missing

__all__ = ["ADAPTERS", "Committed", "Groups", "Listed", "connect", "each_client"]

ADAPTERS = {
    "confluent": "peers.groups.confluent:ConfluentGroups",
    "kafka_python": "peers.groups.kafka_python:KafkaPythonGroups",
    "aiokafka": "peers.groups.aio:AioKafkaGroups",
    "java": "peers.groups.java:JavaGroups",
}


def connect(name: str, bootstrap: str) -> Groups:
    """An adapter of that name for the cluster at `bootstrap`."""
    return adapter(name)(bootstrap)


def adapter(name: str) -> type[Groups]:
    module, _, cls = ADAPTERS[name].partition(":")
    try:
        found: type[Groups] = getattr(import_module(module), cls)
    except ImportError as error:
        raise Missing(f"{name} is not installed ({error})") from error
    return found


def each_client(*calls: str) -> pytest.MarkDecorator:
    """Run a test once for every client which offers these calls; the test takes its name as `client`."""
    return pytest.mark.parametrize("client", [name for name in ADAPTERS if _offers(name, calls)])


def _offers(name: str, calls: tuple[str, ...]) -> bool:
    try:
        cls = adapter(name)
    except Missing:
        return True  # it will be skipped, saying why
    return all(getattr(cls, call) is not getattr(Groups, call) for call in calls)
