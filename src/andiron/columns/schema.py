"""The columns a topic is read as: those of Spark's own Kafka source, name by name and type by type.

    key binary · value binary · topic string · partition int32 · offset int64
    timestamp timestamp[us, UTC] · timestampType int32 [· headers list<struct<key string, value binary>>]

Spark checks what a source hands over against the Arrow form of its schema, down to the name of a list's
element, and everything may be null there; so it is here.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

HEADER: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
HEADERS: Final = pa.list_(pa.field("element", HEADER))
TIMESTAMP: Final = pa.timestamp("us", "UTC")

_PLAIN = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("timestamp", TIMESTAMP),
        pa.field("timestampType", pa.int32()),
    ]
)
_WITH_HEADERS = _PLAIN.append(pa.field("headers", HEADERS))


def arrow_schema(headers: bool) -> pa.Schema:
    """The columns of a topic, with or without the records' headers."""
    return _WITH_HEADERS if headers else _PLAIN
