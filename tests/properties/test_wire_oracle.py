"""Every message in every version, byte for byte beside kio, an independent implementation.

A random message is written by both: the bytes must be the same. Then ours reads them back, from
bytes and from a view in the middle of a larger buffer: the message must be the same.

The messages are made from our own declarations, so a null that we wrongly forbid would never be
tried, and defaults do not show in bytes: the declarations themselves are compared for these.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import io
import random
import types
import typing
import uuid
from typing import Any

import kio.schema.errors
import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_writer

from andiron.wire.apis import Api
from andiron.wire.codec import decoder, encode_message
from andiron.wire.schema import Message, Struct
from properties.wire_samples import all_message_versions, sample

SAMPLES = 12


def known_to_both() -> list[Any]:
    return [
        pytest.param(api, side, version, id=f"{api.name}-{side}-v{version}")
        for api, side, version in all_message_versions()
        if version in schema_name_map[api_key_map[api.key]]
    ]


every_version = pytest.mark.parametrize(("api", "side", "version"), known_to_both())


def both_classes(api: Api, side: str, version: int) -> tuple[type[Message], Any]:
    if side == "request":
        return api.request, load_request_schema(api.key, version)
    return api.response, load_response_schema(api.key, version)


@every_version
def test_our_bytes_are_kios_bytes_and_are_read_back(api: Api, side: str, version: int) -> None:
    ours, theirs = both_classes(api, side, version)
    assert theirs.__flexible__ == (version >= api.flexible_since)
    rng = random.Random(f"{api.name} {side} {version}")
    for _ in range(SAMPLES):
        message = sample(ours, version, rng)
        expected = kio_bytes(as_kio(message, theirs, version))
        assert encode_message(message, version) == expected
        check_decoding(message, version, expected)


@every_version
def test_what_may_be_null_and_what_is_the_default_agrees_with_kio(api: Api, side: str, version: int) -> None:
    compare_declarations(*both_classes(api, side, version), version)


def compare_declarations(ours: type[Struct], theirs: Any, version: int) -> None:
    declared = {field.name: field for field in ours.__fields__ if field.present(version)}
    for field in dataclasses.fields(theirs):
        mine = declared[our_name(field.name, declared)]
        where = f"{ours.__name__}.{mine.name} v{version}"
        if field.metadata.get("kafka_type") not in ("uuid", "datetime_i64"):  # kio's None for a zero or -1
            assert (version >= mine.nullable) == (type(None) in typing.get_args(field.type)), where
        absent = mine.kind == "nested" and mine.tagged(version) and mine.default is None
        if field.default is not dataclasses.MISSING and not absent:
            assert kio_value(mine.default, field, version) == field.default, where
        if dataclasses.is_dataclass(inner_type(field.type)):
            compare_declarations(mine.of, inner_type(field.type), version)


def check_decoding(message: Any, version: int, encoded: bytes) -> None:
    decode = decoder(type(message), version)
    assert decode(encoded, 0, len(encoded)) == (message, len(encoded))
    within = memoryview(b"\xff" * 3 + encoded + b"\xee" * 5)
    assert decode(within, 3, 3 + len(encoded)) == (message, 3 + len(encoded))


def kio_bytes(entity: Any) -> bytes:
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return out.getvalue()


def as_kio(message: Struct, theirs: type, version: int) -> Any:
    """The same message as an object of kio's class for this version."""
    ours = {field.name: field for field in message.__fields__ if field.present(version)}
    values = {}
    for field in dataclasses.fields(theirs):
        name = our_name(field.name, ours)
        del ours[name]
        values[field.name] = kio_value(getattr(message, name), field, version)
    assert not ours, f"kio's {theirs.__name__} v{version} has no {list(ours)}"
    return theirs(**values)


def our_name(name: str, ours: dict[str, Any]) -> str:
    respelt = name.replace("2_pc", "_2pc").replace("k_raft_", "kraft_")
    for candidate in (name, f"{name}_ms", name.rstrip("_"), respelt):
        if candidate in ours:
            return candidate
    raise AssertionError(f"kio has a field {name}, we have {list(ours)}")


@functools.cache
def inner_type(kind: Any) -> Any:
    """X of `X`, `X | None`, `tuple[X, ...]` and `tuple[X, ...] | None`."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        (kind,) = (each for each in typing.get_args(kind) if each is not type(None))
    return inner_type(typing.get_args(kind)[0]) if typing.get_origin(kind) is tuple else kind


def kio_value(value: Any, field: dataclasses.Field[Any], version: int) -> Any:
    if isinstance(value, list):
        return tuple(kio_value(each, field, version) for each in value)
    if isinstance(value, Struct):
        return as_kio(value, inner_type(field.type), version)
    if value is None:
        return field.default if "tag" in field.metadata else None
    match field.metadata.get("kafka_type"):
        case "error_code":
            return kio.schema.errors.ErrorCode(value)
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=value)
        case "datetime_i64":
            epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
            optional = type(None) in typing.get_args(field.type)
            return None if value == -1 and optional else epoch + datetime.timedelta(milliseconds=value)
        case "uuid":
            return None if value == bytes(16) else uuid.UUID(bytes=value)
    return value
