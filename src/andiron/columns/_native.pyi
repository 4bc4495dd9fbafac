from typing import Any

Counts = tuple[
    int, int, int, int, int, int, int
]  # the arena's bytes, rows, key bytes, value bytes, headers …
Blobs = tuple[
    int, int, int, int, int, int
]  # rows, nulls; places of validity, offsets and bytes; how many bytes
Lists = tuple[int, int, int, Blobs, Blobs]  # nulls; places of validity and offsets; keys, values
# Validity, offsets or numbers, bytes; how wide the offsets are, which is the first, how many; what they may reach.
Column = tuple[Any, Any, Any, int, int, int, int]

EDITION: int

def measure(sources: list[Any], table: Any, start: int, end: int, headers: bool) -> Counts: ...
def walk(
    sources: list[Any], table: Any, start: int, end: int, headers: bool, counts: Counts, arena: Any
) -> tuple[Blobs, Blobs, int, int, int, Lists | None]: ...
def pack(
    key: Column | None,
    value: Column,
    lists: Column | None,
    header_key: Column | None,
    header_value: Column | None,
    micros: Column | None,
    indices: Any,
    now: int,
    batch_bytes: int,
) -> list[tuple[bytearray, int, int, int]]: ...
def partitions(keys: Column, count: int) -> bytearray: ...
