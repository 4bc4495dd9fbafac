"""Bytes that Kafka 4.3.1 itself wrote, and what it wrote them from.

Each sample is one message in one version: its fields as plain values (bytes and ids in hex) and its
encoding by Kafka's own classes. Values were drawn by chance, once, in two or three kinds: every field
filled, every nullable field null and every list empty, every field left at Kafka's default.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from andiron.wire.schema import Field, Struct

HERE = Path(__file__).parent
HEX = ("data", "records", "uuid")


class Sample(NamedTuple):
    message: str
    version: int
    fields: dict[str, Any]
    bytes: bytes


def load(name: str) -> list[Sample]:
    """The samples of one file."""
    rows = json.loads((HERE / name).read_text(encoding="utf-8"))
    return [Sample(**{**row, "bytes": bytes.fromhex(row["bytes"])}) for row in rows]


def each(samples: list[Sample]) -> pytest.MarkDecorator:
    """Run a test once for each sample."""
    names = [f"{sample.message}-v{sample.version}-{n}" for n, sample in enumerate(samples)]
    return pytest.mark.parametrize("sample", samples, ids=names)


def built(cls: type[Struct], fields: dict[str, Any]) -> Any:
    """A message of ours from a sample's fields."""
    kinds = {field.name: field for field in cls.__fields__}
    return cls(**{name: _value(kinds[name], value) for name, value in fields.items()})


def _value(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if field.kind == "array":
        return [_element(field.of, element) for element in value]
    if field.kind == "nested":
        return built(field.of, value)
    return bytes.fromhex(value) if field.kind in HEX else value


def _element(of: Any, value: Any) -> Any:
    return _value(of, value) if isinstance(of, Field) else built(of, value)
