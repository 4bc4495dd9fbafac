"""What records are, in a few bytes: a checksum over columns that does not depend on how they are cut into batches.

    rows ─▶ key, value, headers, timestamp, … ─▶ lengths and bytes of each column, hashed as they come ─▶ 32 digits

Two readings have the same digest if they gave the same records in the same order. By it a copy is proven (copying/
proof.py), and rows that Spark's sink has lost are known again when they are written anew
(spark/sink/decision_outcome.py).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

NULL = -1
SIZE = 16


class RowsDigest:
    """Of records as rows, column by column."""

    def __init__(self) -> None:
        self._parts: dict[str, Any] = defaultdict(lambda: hashlib.blake2b(digest_size=SIZE))

    def add(self, records: pa.RecordBatch) -> None:
        """The next rows."""
        for name, column in zip(records.schema.names, records.columns, strict=True):
            self._add(name, column)

    def hexdigest(self) -> str:
        """Of all so far."""
        told = "".join(f"{name} {part.hexdigest()}\n" for name, part in sorted(self._parts.items()))
        return hashlib.blake2b(told.encode(), digest_size=SIZE).hexdigest()

    def _add(self, name: str, column: Any) -> None:
        kind = column.type
        if pa.types.is_list(kind):
            self._add_numbers(f"{name} length", pc.list_value_length(column))
            flat = column.flatten()
            for at in range(kind.value_type.num_fields):
                self._add(f"{name} {at}", pc.struct_field(flat, [at]))
        elif pa.types.is_integer(kind) or pa.types.is_timestamp(kind):
            self._add_numbers(name, column.cast(pa.int64()))
        else:
            as_bytes = column.cast(pa.large_binary())
            self._add_numbers(f"{name} length", pc.binary_length(as_bytes))
            self._add_bytes(name, as_bytes.drop_null())

    def _add_numbers(self, name: str, column: Any) -> None:
        self._parts[name].update(pc.fill_null(column, NULL).cast(pa.int64()).to_numpy(zero_copy_only=False))

    def _add_bytes(self, name: str, column: Any) -> None:
        """The bytes of all values, one after another, as they lie in memory."""
        if len(column):
            offsets = pa.Array.from_buffers(
                pa.int64(), len(column) + 1, [None, column.buffers()[1]], offset=column.offset
            )
            start, end = offsets[0].as_py(), offsets[len(column)].as_py()
            if end > start:
                self._parts[name].update(column.buffers()[2].slice(start, end - start))
