"""The offsets of a micro-batch, read from the query's own checkpoint.

    <checkpoint>/metadata       {"id": "6c1f…"}                         the query, over all its runs
    <checkpoint>/offsets/7      v1, settings, {"orders": {"0": 400}}    where batch 7 ends, written before it runs
    <checkpoint>/offsets/6                    {"orders": {"0": 300}}    where it begins
    <checkpoint>/sources/0/0                  {"orders": {"0": 250}}    where batch 0 begins, in Spark's Kafka source

With the `andiron` source offsets/0 says where batch 0 begins as well as where it ends. A partition that is new in a
batch begins at its beginning.

A query may read other things beside topics; those have no part in it. Two sources that read the same partition
would leave it open which of them a row is from, and are refused.

Read next: table_commit.py.
"""

from __future__ import annotations

import json
from typing import Any

from andiron.model.errors import AndironError
from andiron.spark.source.offsets import ForeignCheckpoint, Offsets, begun_in, of_json, shown
from andiron.spark.source.plan import Range
from andiron.spark.tables.files import Files

_VERSION = "v1"
_NO_OFFSET = "-"  # a source that has given nothing yet


class TableError(AndironError):
    """A table that cannot be written, read or trusted as it is; the message says what to do."""


class Checkpoint:
    """The checkpoint of a query."""

    def __init__(self, location: str) -> None:
        self.files = Files(location)

    def __str__(self) -> str:
        return str(self.files)

    @property
    def uri(self) -> str:
        """The URI of the checkpoint, for Spark's checkpointLocation."""
        return self.files.uri

    def query(self) -> str:
        """The id of the query."""
        text = self.files.read("metadata")
        told = _json(text) if text is not None else None
        if not isinstance(told, dict) or not isinstance(told.get("id"), str):
            raise TableError(f"{self} is not the checkpoint of a query: it has no file `metadata` with an id")
        return str(told["id"])

    def ranges(self, batch: int) -> list[Range]:
        """The range of offsets that a batch reads of each partition, be it empty."""
        ends = self._offsets(batch)
        starts = self._offsets(batch - 1) if batch else self._initial()
        found: dict[Any, Range] = {}
        for source, until in enumerate(ends):
            for partition, end in (until or {}).items():
                if partition in found:
                    raise TableError(
                        f"{self}: two sources of the query read {partition}, so that a row could be from either; "
                        "read the topic once, and use that DataFrame twice"
                    )
                begun = starts[source] if source < len(starts) else None
                found[partition] = Range(partition, (begun or {}).get(partition, 0), end)
        if not found:
            raise TableError(
                f"{self}: the query reads no topic; a table knows what it holds by the offsets of the "
                "`andiron` or `kafka` source"
            )
        _check_forward(self, batch, found.values())
        return [found[partition] for partition in sorted(found)]

    def _initial(self) -> list[Offsets | None]:
        """Where each source began: as it says itself, or as Spark's own Kafka source notes it."""
        found: list[Offsets | None] = []
        for source, line in enumerate(self._lines(0)):
            text = self.files.read(f"sources/{source}/0")
            if text is not None:
                found.append(_offsets_in(text.replace("\0", "").split("\n", 1)[-1]))
            else:
                told = _json(line)
                begun = begun_in(told) if isinstance(told, dict) else None
                found.append(begun or _offsets_in(line))  # what does not say began with an empty batch
        return found

    def _offsets(self, batch: int) -> list[Offsets | None]:
        """Where each source stands at the end of a batch; None for what is no topic."""
        return [_offsets_in(line) for line in self._lines(batch)]

    def _lines(self, batch: int) -> list[str]:
        """What each source says of a batch's end."""
        text = self.files.read(f"offsets/{batch}")
        if text is None:
            raise TableError(
                f"{self} has no offsets of batch {batch}; is it the checkpointLocation of this query?"
            )
        version, *lines = text.split("\n")
        if version.strip() != _VERSION or len(lines) < 2:
            raise TableError(
                f"{self}/offsets/{batch} has the format {version.strip()[:20]!r}, and {_VERSION!r} is understood; "
                "set spark.sql.streaming.offsetLog.formatVersion=1 for a new checkpoint"
            )
        return [line for line in lines[1:] if line.strip()]


def _offsets_in(line: str) -> Offsets | None:
    """{topic: {partition: offset}}, or None for the offset of another kind of source."""
    told = None if line.strip() == _NO_OFFSET else _json(line)
    try:
        return of_json(told) if isinstance(told, dict) and told else None
    except ForeignCheckpoint:
        return None


def _check_forward(where: object, batch: int, ranges: Any) -> None:
    back = [each.partition for each in ranges if each.start > each.end]
    if back:
        raise TableError(
            f"{where}: in batch {batch} {shown(back)} ends before where it was read up to: the topic was made anew or "
            "lost records, and what comes now are others under the same offsets; start a new table and checkpoint"
        )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
