"""The proof at the end of a copy: records of source and target are read again, counted and checksummed.

    source  from ────────────────▶ upto    every record's key, value, headers and time, in order ──▶ checksum ┐
    target  from ────────────────▶ upto                                                                       ┴─▶ equal

Nothing of how the copy was made is used but the map of offsets, for where both sides begin: at the first record that
retention has left on both. A checksum does not depend on how answers are cut (columns/digest.py).

Where records are compacted, each side drops in its own time what a later record of the same key replaces. If plain
checksums differ there, the last record of each key is what has to be the same, tombstones counting as absence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from andiron.client.blocking.column_reader import ColumnReader
from andiron.columns.digest import RowsDigest
from andiron.copying.cluster_side import Side, on
from andiron.copying.partition_copy import PartitionCopy
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition

ATTEMPTS_MAX = 3  # where retention takes the first records while they are read
COMPARED = ["key", "value", "timestamp", "headers"]
_DIGEST_BYTES = 16
IN_FULL, BY_KEY = "in full", "by key"


@dataclass
class Proof:
    """What both sides have of a partition between the same two records."""

    partition: TopicPartition
    source: tuple[int, int]  # offsets, from and upto
    target: tuple[int, int]
    records: tuple[int, int] = (0, 0)  # on the source, on the target
    checksums: tuple[str, str] = ("", "")
    compared: str = IN_FULL

    @property
    def holds(self) -> bool:
        return self.checksums[0] == self.checksums[1] and self.records[0] == self.records[1]


class Checksum:
    """A checksum of records in order, with their count."""

    def __init__(self) -> None:
        self.records = 0
        self._digest = RowsDigest()

    def update(self, rows: pa.RecordBatch) -> None:
        """Go on with these records."""
        self.records += rows.num_rows
        self._digest.add(rows.select(COMPARED))

    def text(self) -> str:
        """In hexadecimal digits."""
        return self._digest.hexdigest()


class LastOfKeys:
    """The last record of each key, tombstones left out: what compaction keeps, whenever it is done."""

    def __init__(self) -> None:
        self._last: dict[bytes | None, bytes] = {}

    def update(self, rows: pa.RecordBatch) -> None:
        """Go on with these records."""
        for row in rows.select(COMPARED).to_pylist():
            key = row.pop("key")
            if row["value"] is None:
                self._last.pop(key, None)
            else:
                told = repr(sorted(row.items())).encode()
                self._last[key] = hashlib.blake2b(told, digest_size=_DIGEST_BYTES).digest()

    @property
    def records(self) -> int:
        return len(self._last)

    def text(self) -> str:
        """In hexadecimal digits."""
        together = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        for key, digest in sorted(self._last.items(), key=lambda pair: pair[0] or b""):
            together.update(repr(key).encode() + digest)
        return together.hexdigest()


class Prover:
    """Reads partitions of source and target, and compares them."""

    def __init__(self, source: Side, target: Side, *, committed: bool = True) -> None:
        self._source, self._target, self._committed = source, target, committed

    def prove(self, copy: PartitionCopy, *, compacted: bool) -> Proof:
        """Compare all that is copied of a partition and still there on both sides."""
        for attempt in range(ATTEMPTS_MAX):
            try:
                return self._compare(copy, compacted)
            except ProtocolError as error:
                if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE or attempt == ATTEMPTS_MAX - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _compare(self, copy: PartitionCopy, compacted: bool) -> Proof:
        partition, first = copy.partition, copy.map.first
        source_start = max(self._source.ends([partition])[partition][0], first.source)
        target_start = max(self._target.ends([partition])[partition][0], first.target)
        begin = copy.map.aligned(source_start, target_start)
        if begin is None or begin[0] >= copy.source or begin[1] >= copy.target:
            begin = copy.source, copy.target
        proof = Proof(partition, (begin[0], copy.source), (begin[1], copy.target))
        self._fill(proof, Checksum)
        if not proof.holds and compacted:
            proof.compared = BY_KEY
            self._fill(proof, LastOfKeys)
        return proof

    def _fill(self, proof: Proof, kind: type[Checksum | LastOfKeys]) -> None:
        found = []
        for side, (start, end) in ((self._source, proof.source), (self._target, proof.target)):
            total = kind()
            with on(side.name):
                for rows in self._rows(side, proof.partition, start, end):
                    total.update(rows)
            found.append((total.records, total.text()))
        (records, checksum), (their_records, their_checksum) = found
        proof.records, proof.checksums = (records, their_records), (checksum, their_checksum)

    def _rows(self, side: Side, partition: TopicPartition, start: int, end: int) -> Iterator[pa.RecordBatch]:
        with ColumnReader(
            side.client, partition, start, end, headers=True, committed=self._committed
        ) as reader:
            yield from reader
