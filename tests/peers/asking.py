"""Any request in any version, from plain values, with the answer in plain values: for what no client would say.

The bytes are kio's, an implementation of the protocol apart from the one under test.

    with Asker(node.port) as asker:
        answer = asker.ask("heartbeat", 4, group_id="g", generation_id=3, member_id="m")
        assert answer.error_code == 25

Fields are called as in the protocol guide, in snake case; those that are left out have their defaults. Times
are milliseconds, errors are numbers, structures in a request are dictionaries.

Read next: raw.py and frames.py, for requests that are not even well formed.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import io
import select
import types
import typing
from collections.abc import Hashable, Iterable
from functools import cache
from types import SimpleNamespace
from typing import Any, Self

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader, entity_writer

from peers import frames
from peers.clients.base import PATIENCE_S
from peers.raw import Raw

KEYS = {name: key for key, name in api_key_map.items()}


class Asker:
    """One connection."""

    def __init__(self, port: int) -> None:
        self._link = Raw(port)
        self.link = self._link.link
        self._expected: list[tuple[int, int]] = []

    def ask(self, api: str, version: int, **fields: Any) -> Any:
        self.send(api, version, **fields)
        return self.receive()

    def send(self, api: str, version: int, **fields: Any) -> None:
        """Without waiting for the answer, which may take as long as a rebalance."""
        schema: Any = load_request_schema(KEYS[api], version)
        body = _bytes(_entity(schema, fields))
        self._expected.append((KEYS[api], version))
        self._link.send(frames.frame(KEYS[api], version, body, flexible=schema.__flexible__))

    def receive(self) -> Any:
        """The answer to the oldest request that was not answered."""
        key, version = self._expected.pop(0)
        schema: Any = load_response_schema(key, version)
        reader = frames.Reader(self._link.receive())
        reader.take("i")
        if schema.__flexible__ and key != KEYS["api_versions"]:  # its header has no tags in any version
            reader.tags()
        return _plain(_read(schema, bytes(reader.data[reader.at :])))

    def close(self) -> None:
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def first_answer(askers: Iterable[Asker]) -> Any:
    """The answer that comes first, where several wait."""
    links = {asker.link: asker for asker in askers}
    ready, _, _ = select.select(list(links), [], [], PATIENCE_S)
    return links[ready[0]].receive()


def _bytes(entity: Any) -> bytes:
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return out.getvalue()


def _read(schema: Any, data: bytes) -> Any:
    found, end = entity_reader(schema)(data, 0)
    assert end == len(data), f"{len(data) - end} bytes too many in a {schema.__name__}"
    return found


def _entity(schema: Any, fields: dict[str, Any]) -> Any:
    known = {field.name: field for field in dataclasses.fields(schema)}
    given = {name: _value(fields[name], known[name]) for name in fields}
    for name, field in known.items():  # kio asks for some that have a default in the protocol
        if name not in given and field.default is dataclasses.MISSING:
            if field.metadata.get("kafka_type") == "bool":
                given[name] = False
            elif _nullable(field.type):
                given[name] = None
    return schema(**given)


def _value(value: Any, field: dataclasses.Field[Any]) -> Any:
    if isinstance(value, dict):
        return _entity(_inner(typing.cast(Hashable, field.type)), value)
    if isinstance(value, list | tuple):
        return tuple(_value(each, field) for each in value)
    if str(field.metadata.get("kafka_type")).startswith("timedelta"):
        return datetime.timedelta(milliseconds=value)
    return value


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return SimpleNamespace(**{name: _plain(getattr(value, name)) for name in names})
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime.timedelta):
        return int(value.total_seconds() * 1000)
    return int(value) if isinstance(value, enum.IntEnum) else value


def _nullable(kind: Any) -> bool:
    return type(None) in typing.get_args(kind)


@cache
def _inner(kind: Any) -> Any:
    """X of `X`, `X | None`, `tuple[X, ...]` and `tuple[X, ...] | None`."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        (kind,) = (each for each in typing.get_args(kind) if each is not type(None))
    return _inner(typing.get_args(kind)[0]) if typing.get_origin(kind) is tuple else kind
