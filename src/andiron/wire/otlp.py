"""Metrics as OpenTelemetry's protocol has them: as much of it as Kafka's clients push (KIP-714).

    MetricsData ─▶ ResourceMetrics ─▶ ScopeMetrics ─▶ Metric ─▶ Gauge, Sum ─▶ NumberDataPoint ─▶ attributes

Sums and gauges are read; histograms, which no client of Kafka's sends, are passed by. It is protobuf, of which no more
is needed than what is here. Whoever writes it is not trusted: a reader walks a bounded number of fields, and what is
not well formed is INVALID_RECORD.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from andiron.model.errors import ErrorCode, ProtocolError

FIELDS_MAX = 50_000  # that one reading walks

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DOUBLE, _SIGNED = struct.Struct("<d"), struct.Struct("<q")

# The numbers of the fields, of the messages in the picture above.
_RESOURCES, _SCOPES, _METRICS, _POINTS = 1, 2, 2, 1
_NAME, _GAUGE, _SUM, _IS_MONOTONIC = 1, 5, 7, 3
_AS_DOUBLE, _AS_INT, _ATTRIBUTES = 4, 6, 7
_KEY, _VALUE, _STRING, _BOOLEAN, _INTEGER = 1, 2, 1, 2, 3


class Point(NamedTuple):
    """One value of one metric."""

    metric: str
    attributes: tuple[tuple[str, str], ...]  # sorted
    value: float
    is_counter: bool  # a sum that only grows


def points(data: bytes | memoryview) -> Iterator[Point]:
    """The values in a MetricsData message; raises INVALID_RECORD."""
    reader = _Reader()
    for resource in reader.messages(memoryview(data), _RESOURCES):
        for scope in reader.messages(resource, _SCOPES):
            for metric in reader.messages(scope, _METRICS):
                yield from reader.points(metric)


class _Reader:
    """Walks messages, and counts its steps."""

    def __init__(self) -> None:
        self._left = FIELDS_MAX

    def points(self, metric: memoryview) -> Iterator[Point]:
        name, bodies = "", []
        for number, kind, value in self._fields(metric):
            if number == _NAME and kind == _BYTES:
                name = _text(value)
            elif number in (_GAUGE, _SUM) and kind == _BYTES:
                bodies.append((number == _SUM, value))
        for is_sum, body in bodies:
            fields = list(self._fields(body))
            grows = is_sum and any(number == _IS_MONOTONIC and value for number, _, value in fields)
            for number, kind, value in fields:
                if number == _POINTS and kind == _BYTES:
                    yield self._point(name, value, grows)

    def _point(self, metric: str, data: memoryview, grows: bool) -> Point:
        told, attributes = 0.0, {}
        for number, kind, value in self._fields(data):
            if kind == _FIXED64 and number == _AS_DOUBLE:
                told = _DOUBLE.unpack(value)[0]
            elif kind == _FIXED64 and number == _AS_INT:
                told = _SIGNED.unpack(value)[0]
            elif kind == _BYTES and number == _ATTRIBUTES:
                key, text = self._attribute(value)
                attributes[key] = text
        return Point(metric, tuple(sorted(attributes.items())), told, grows)

    def _attribute(self, data: memoryview) -> tuple[str, str]:
        key, text = "", ""
        for number, kind, value in self._fields(data):
            if number == _KEY and kind == _BYTES:
                key = _text(value)
            elif number == _VALUE and kind == _BYTES:
                text = self._any(value)
        return key, text

    def _any(self, data: memoryview) -> str:
        for number, kind, value in self._fields(data):
            if number == _STRING and kind == _BYTES:
                return _text(value)
            if number == _BOOLEAN and kind == _VARINT:
                return "true" if value else "false"
            if number == _INTEGER and kind == _VARINT:
                return str(value)
        return ""

    def messages(self, data: memoryview, wanted: int) -> Iterator[memoryview]:
        """The messages within a message under one number."""
        for number, kind, value in self._fields(data):
            if number == wanted and kind == _BYTES:
                yield value

    def _fields(self, data: memoryview) -> Iterator[tuple[int, int, Any]]:
        """(number, kind, value) of each field: bytes, or a whole number where it is a varint."""
        at, end = 0, len(data)
        while at < end:
            self._left -= 1
            if self._left < 0:
                raise _bad("there are too many fields")
            tag, at = _varint(data, at)
            kind = tag & 7
            if kind == _VARINT:
                value, at = _varint(data, at)
                yield tag >> 3, kind, value
                continue
            if kind == _BYTES:
                length, at = _varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                length = 8 if kind == _FIXED64 else 4
            else:
                raise _bad(f"there is no kind {kind} of field")
            if at + length > end:
                raise _bad("a field goes beyond its end")
            yield tag >> 3, kind, data[at : at + length]
            at += length


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise _bad("a number has no end")


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")


def _bad(what: str) -> ProtocolError:
    return ErrorCode.INVALID_RECORD.error(f"these are no metrics: {what}")
