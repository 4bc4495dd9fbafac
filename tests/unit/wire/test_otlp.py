"""Metrics in OpenTelemetry's protocol: what clients push is read, and nothing else is trusted."""

import struct

import pytest

from andiron.model.errors import ProtocolError
from andiron.wire import otlp
from andiron.wire.otlp import Point, points


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    """One field of a message: a whole number, a double, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(key, value):
    return field(7, field(1, key.encode()) + field(2, field(1, value.encode())))


def metric(name, *points_of_it, kind=5, monotonic=0):
    body = b"".join(field(1, point) for point in points_of_it) + (field(3, monotonic) if kind == 7 else b"")
    return field(2, field(1, name.encode()) + field(kind, body))


def pushed(*metrics):
    """A MetricsData message, as a client sends it."""
    return field(1, field(2, b"".join(metrics)))


def test_gauges_and_sums_are_read_with_their_attributes():
    data = pushed(
        metric("a.gauge", field(4, 1.5) + attribute("topic", "t") + attribute("node", "1")),
        metric("a.total", varint(6 << 3 | 1) + struct.pack("<q", -7), kind=7, monotonic=1),
        metric("a.difference", field(4, 2.0), kind=7),
    )

    assert list(points(data)) == [
        Point("a.gauge", (("node", "1"), ("topic", "t")), 1.5, False),
        Point("a.total", (), -7, True),
        Point("a.difference", (), 2.0, False),
    ]


def test_what_is_not_known_is_passed_by():
    histogram = metric("h", b"", kind=9)
    data = field(9, b"later") + pushed(histogram, metric("g", field(4, 1.0) + field(3, 5.0) + field(99, 7)))

    assert [point.metric for point in points(data)] == ["g"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a",
        b"\x0a\x05ab",
        b"\x0b",
        b"\xff" * 12,
        field(1, b"\x12\x7f"),
        pushed(metric("g", b"\x21\x00")),
    ],
)
def test_what_is_not_well_formed_is_refused(data):
    with pytest.raises(ProtocolError, match="INVALID_RECORD"):
        list(points(data))


def test_a_reading_has_an_end(monkeypatch):
    monkeypatch.setattr(otlp, "FIELDS_MAX", 1000)

    with pytest.raises(ProtocolError, match="too many"):
        list(points(field(1, b"") * 1001))
