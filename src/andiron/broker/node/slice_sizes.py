"""How much of a long request is done in one step: so many entries, by what one of them costs (slices.py).

Each is few enough for some milliseconds. They are one table, which whoever plays a node can make small for a while
(`slices_of`): the requests of a simulated client have a handful of entries, and would never be cut otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace


@dataclass(slots=True)
class SliceSizes:
    """Entries of a request that are done in one step."""

    entries: int = 500  # that cost some microseconds each
    produced_batches: int = 500  # appended
    fetched_partitions: int = 500  # looked at
    listed_offsets: int = 200  # some look into their files
    described_topics: int = 200  # and partitions
    described_resources: int = 20  # each with all its settings
    described_groups: int = 100  # each with all its members
    deleted_groups: int = 100
    fetched_offset_pieces: int = 10  # of 500 partitions
    transactions: int = 100  # described, or added to
    markers: int = 100
    shards: int = 20  # of a coordinator, each of which is asked


SIZES = SliceSizes()


@contextmanager
def slices_of(entries: int) -> Iterator[None]:
    """Let no slice have more entries than so many, meanwhile."""
    before = replace(SIZES)
    try:
        for field in fields(SIZES):
            setattr(SIZES, field.name, min(entries, getattr(before, field.name)))
        yield
    finally:
        for field in fields(SIZES):
            setattr(SIZES, field.name, getattr(before, field.name))
