"""Random messages of any declared class in any version, made from the declaration alone.

The values are those that tend to find bugs: nulls, empties, the ends of integer ranges, lengths
around the one-byte varint, text beyond ASCII. Times stay within what a calendar can hold and error
codes within Kafka's table, so that other libraries can represent them too.
"""

from __future__ import annotations

import random
from typing import Any

from andiron.model.errors import ErrorCode
from andiron.wire.apis import APIS, Api
from andiron.wire.schema import Field, Message, Struct

INTEGERS = {"i8": (-(1 << 7), 1 << 7), "i16": (-(1 << 15), 1 << 15), "i32": (-(1 << 31), 1 << 31)}
INTEGERS |= {"i64": (-(1 << 63), 1 << 63), "u16": (0, 1 << 16), "u32": (0, 1 << 32)}
TEXTS = ("", "a", "topic-1", "größer", "日本語", "🔥" * 31, "x" * 126, "y" * 127, "z" * 300)
ERROR_CODES = [code.number for code in ErrorCode]


def all_message_versions() -> list[tuple[Api, str, int]]:
    """Every API's request and response in each of its versions."""
    return [
        (api, side, version)
        for api in APIS.values()
        for side in ("request", "response")
        for version in range(api.versions[0], api.versions[1] + 1)
    ]


def sample(cls: type[Message], version: int, rng: random.Random) -> Any:
    """A message that survives being written and read in this version."""
    return _struct(cls, version, rng, depth=0)


def _struct(cls: type[Struct], version: int, rng: random.Random, depth: int) -> Any:
    made = cls()
    for field in cls.__fields__:
        if field.present(version) and not (field.tagged(version) and rng.random() < 0.4):
            setattr(made, field.name, _value(field, version, rng, depth))
    return made


def _value(field: Field, version: int, rng: random.Random, depth: int) -> Any:
    if version >= field.nullable and rng.random() < 0.25:
        return None
    if field.kind == "array":
        return [_element(field.of, version, rng, depth + 1) for _ in range(_length(field.of, rng, depth))]
    if field.kind == "nested":
        made = _struct(field.of, version, rng, depth + 1)
        absent = field.tagged(version) and version < field.nullable and made == field.of()
        return field.default if absent and field.default is None else made
    return _scalar(field, rng)


def _length(of: Any, rng: random.Random, depth: int) -> int:
    if isinstance(of, Field) and rng.random() < 0.1:
        return rng.choice((126, 127, 128, 200))
    return rng.choice((0, 1, 2) if depth > 1 else (0, 1, 2, 3))


def _element(of: Any, version: int, rng: random.Random, depth: int) -> Any:
    return _value(of, version, rng, depth) if isinstance(of, Field) else _struct(of, version, rng, depth)


def _scalar(field: Field, rng: random.Random) -> Any:
    if field.name.endswith("error_code"):
        return rng.choice(ERROR_CODES)
    if field.kind in INTEGERS:
        if field.kind == "i64" and "time" in field.name:
            return rng.choice((-1, 0, rng.randrange(1 << 41)))
        low, high = INTEGERS[field.kind]
        return rng.choice((low, high - 1, 0, 1, max(low, -1), rng.randrange(low, high)))
    if field.kind == "boolean":
        return rng.random() < 0.5
    if field.kind == "f64":
        return rng.choice((0.0, -1.5, 1e300, rng.random()))
    if field.kind == "uuid":
        return rng.choice((bytes(16), rng.randbytes(16)))
    if field.kind == "string":
        return rng.choice(TEXTS)
    return rng.randbytes(rng.choice((0, 1, 61, 126, 127, 300)))
