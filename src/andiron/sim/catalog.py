"""What the cluster's metadata may be, by what clients have asked for and been told.

    heard    a change was asked for: from now on the topic is as before, or as changed
    said     it was acknowledged: as changed, whatever happens; or refused: as before
    neither  the node died first: one or the other, and the next look at it shows which

A change that was acknowledged is on the disk of the metadata log, so even a power loss leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from andiron.model.errors import ErrorCode, Retriable
from andiron.wire.messages.alter_configs import AlterConfigsRequest
from andiron.wire.messages.create_partitions import CreatePartitionsRequest
from andiron.wire.messages.create_topics import CreateTopicsRequest
from andiron.wire.messages.delete_topics import DeleteTopicsRequest
from andiron.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest

SET, DELETE = 0, 1  # of IncrementalAlterConfigs


class TopicState(NamedTuple):
    """One topic: which of those that ever had its name, how many partitions, what settings of its own."""

    incarnation: int
    partitions: int
    configs: tuple[tuple[str, str], ...]


State = TopicState | None
Change = Callable[[State], State]


class AskedChange(NamedTuple):
    """A change that was asked for."""

    topic: str
    change: Change
    before: list[State]
    number: int  # of the change, among those of its topic


class Catalog:
    """The states in which each topic may be."""

    def __init__(self) -> None:
        self._possible: dict[str, list[State]] = {}
        self._changes: dict[str, int] = {}
        self._under_way: dict[str, int] = {}
        self._ids: dict[tuple[str, int], bytes] = {}

    def possible(self, topic: str) -> list[State]:
        """What a topic may be at the moment."""
        return self._possible.get(topic, [None])

    @property
    def topics(self) -> list[str]:
        """Every name that was ever asked for."""
        return list(self._possible)

    def heard(self, topic: str, change: Change) -> AskedChange:
        """A change has been asked for."""
        before = self.possible(topic)
        self._changes[topic] = count = self._changes.get(topic, 0) + 1
        self._under_way[topic] = self._under_way.get(topic, 0) + 1
        self._possible[topic] = _distinct([*before, *map(change, before)])
        return AskedChange(topic, change, before, count)

    def said(self, asked: AskedChange, code: ErrorCode) -> None:
        """The node has answered for a change."""
        self._under_way[asked.topic] = max(self._under_way[asked.topic] - 1, 0)
        if self._changes[asked.topic] != asked.number:
            return  # another change came in between, and may have come before or after it
        if code is ErrorCode.NONE:
            self._possible[asked.topic] = _distinct(list(map(asked.change, asked.before)))
        elif code.remedy is not None and not issubclass(code.remedy, Retriable):
            self._possible[asked.topic] = asked.before

    def shown(self, topic: str, actual: State) -> None:
        """This is in effect, so it is committed: there is no way back to what was before."""
        possible = self.possible(topic)
        if self._under_way.get(topic) == 1 and len(possible) == 2 and actual == possible[1]:
            self._possible[topic] = [actual]

    def found(self, topic: str, actual: State) -> None:
        """A new node has come up, and nothing is under way."""
        self._possible[topic] = [actual]
        self._under_way[topic] = 0

    def name(self, topic: str, id: bytes) -> int | None:
        """A new id has shown up: the incarnation that it belongs to from now on, None if there can be none.

        Of several that were asked for, the first was made and the others found it there.
        """
        unnamed = [
            state.incarnation
            for state in self.possible(topic)
            if state is not None and (topic, state.incarnation) not in self._ids
        ]
        if not unnamed:
            return None
        self._ids[topic, min(unnamed)] = id
        return min(unnamed)

    def incarnation_of(self, topic: str, id: bytes) -> int | None:
        """Which incarnation is known by this id."""
        for (name, incarnation), known in self._ids.items():
            if name == topic and known == id:
                return incarnation
        return None


def changes(body: Any, number: int) -> list[tuple[str, Change]]:
    """The changes that a request asks for; `number` is that of the request, and of what it creates."""
    match body:
        case CreateTopicsRequest():
            return [(topic.name, _create(topic, number)) for topic in body.topics]
        case DeleteTopicsRequest():
            names = [topic.name for topic in body.topics if topic.name] or body.topic_names
            return [(name, _delete) for name in names]
        case CreatePartitionsRequest():
            return [(topic.name, _grow(topic.count)) for topic in body.topics]
        case AlterConfigsRequest():
            return [(each.resource_name, _replace(each.configs)) for each in body.resources]
        case IncrementalAlterConfigsRequest():
            return [(each.resource_name, _alter(each.configs)) for each in body.resources]
    return []


def codes(response: Any) -> list[ErrorCode]:
    """The outcomes of those changes, in the same order."""
    for field in ("topics", "results", "responses"):
        answers = getattr(response, field, None)
        if answers is not None:
            return [ErrorCode.of(answer.error_code) for answer in answers]
    return []


def _create(topic: Any, number: int) -> Change:
    configs = tuple(sorted((config.name, config.value) for config in topic.configs))
    return lambda state: state or TopicState(number, topic.num_partitions, configs)


def _delete(_: State) -> State:
    return None


def _grow(count: int) -> Change:
    return lambda state: state and state._replace(partitions=max(count, state.partitions))


def _replace(configs: list[Any]) -> Change:
    wanted = tuple(sorted((config.name, config.value) for config in configs))
    return lambda state: state and state._replace(configs=wanted)


def _alter(alterations: list[Any]) -> Change:
    def change(state: State) -> State:
        if state is None:
            return None
        configs = dict(state.configs)
        for each in alterations:
            if each.config_operation == DELETE:
                configs.pop(each.name, None)
            else:
                configs[each.name] = each.value
        return state._replace(configs=tuple(sorted(configs.items())))

    return change


def _distinct(states: list[State]) -> list[State]:
    return list(dict.fromkeys(states))
