"""Groups through Kafka's own clients in Java."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from peers.clients.java import Java
from peers.groups.base import Committed, Described, Groups, Listed, Place


class JavaGroups(Groups):
    """KafkaConsumer and Admin in the virtual machine that all tests of a process share."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap)
        self._java = Java(bootstrap)

    def commit(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        self._ask("commit", group, offsets=_rows(offsets))

    def committed(self, group: str, places: Collection[Place]) -> dict[Place, Committed]:
        return _found(self._ask("committed", group, places=list(places)))

    def list_offsets(self, group: str) -> dict[Place, Committed]:
        return _found(self._ask("list_offsets", group))

    def alter_offsets(self, group: str, offsets: Mapping[Place, Committed]) -> None:
        self._ask("alter_offsets", group, offsets=_rows(offsets))

    def delete_offsets(self, group: str, places: Collection[Place]) -> None:
        self._ask("delete_offsets", group, places=list(places))

    def list_groups(self, states: Collection[str] = (), types: Collection[str] = ()) -> dict[str, Listed]:
        found = self._ask("list", "", states=list(states), types=list(types))
        return {group: Listed(state, type_) for group, state, type_ in found}

    def describe_group(self, group: str) -> Described:
        found = self._ask("describe", group)
        members = tuple(frozenset(map(tuple, places)) for places in found["members"])
        return Described(found["state"], found["assignor"], members)

    def delete_group(self, group: str) -> None:
        self._ask("delete", group)

    def remove_members(self, group: str, instances: Collection[str]) -> None:
        """Throw static members out, by their names."""
        self._ask("remove_members", group, instances=list(instances))

    def _ask(self, do: str, group: str, **more: Any) -> Any:
        return self._java.call("groups", do=do, group=group, **more)


def _rows(offsets: Mapping[Place, Committed]) -> list[list[Any]]:
    return [[*place, at.offset, at.metadata, at.epoch] for place, at in offsets.items()]


def _found(rows: list[list[Any]]) -> dict[Place, Committed]:
    return {(topic, number): Committed(offset, text, epoch) for topic, number, offset, text, epoch in rows}
