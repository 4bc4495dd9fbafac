"""A table beside its log: whether every record of its ranges is in it, once.

    commits ─▶ chain of ranges ─▶ pieces ─┬─▶ log     which offsets have a record, of committed transactions
                                          ├─▶ table   how often each is there
                                          └─▶ dead letters, by their origin
    missing: in the log alone      duplicated: there twice      unknown or aborted: in the table alone

It is done piece by piece, with no more than a million offsets in memory, whatever the size of the table. What the
log has no more, by retention or compaction, cannot be held against the table; how much that is, is told.

A table of aggregates is checked as a whole: its count column adds up to the records of all ranges, less the dead
letters, and less what the watermark has dropped. Appended windows hold the closed ones alone, so there the
sum may be less, by what is in windows that are open.

Read next: chain.py, findings.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.core.descriptions import EARLIEST, LATEST, Resource, ResourceType
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import TopicPartition
from andiron.spark.frames.dead_letters import DeadLetters, origins
from andiron.spark.source.plan import Log, Range
from andiron.spark.tables.chain import EARLIER, Piece, breaks, joined, rounds, with_earlier
from andiron.spark.tables.commit import Commit
from andiron.spark.tables.findings import Finding, Verdict, runs
from andiron.spark.tables.table import ORIGIN, Table

Counts = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


def verify(table: Table, client: Client, *, committed: bool = True) -> Verdict:
    """Compare a table with its log."""
    commits = list(table.commits())
    if not commits:
        return Verdict(remarks=["the table has no batches"])
    commits = with_earlier(commits)
    verdict = Verdict(batches=len(commits), offsets=sum(each.offsets for each in commits))
    for broken in breaks(commits):
        detail = "no batch has them" if broken.what == "missing" else "an earlier batch has them already"
        verdict.findings.append(Finding(broken.what, detail, broken.batch, broken.range, broken.range.size))
    if commits[-1].promise.holds == "other":
        verdict.remarks.append("the table promises nothing that could be checked but its chain of ranges")
    else:
        _Check(table, commits, client, verdict, committed=committed).run()
    return verdict


class _Check:
    """One comparison."""

    def __init__(
        self, table: Table, commits: Sequence[Commit], client: Client, verdict: Verdict, *, committed: bool
    ) -> None:
        self.table, self.commits, self.client, self.verdict = table, commits, client, verdict
        self.committed = committed
        self.promise = commits[-1].promise
        self.logs = self._logs()
        self.compacted = {topic for topic in {each.topic for each in self.logs} if self._is_compacted(topic)}
        self.dead = self._dead_letters(self.promise.dead_letters)

    def run(self) -> None:
        for pieces in rounds(self.commits):
            self._round(pieces)
        if self.promise.holds == "count":
            self._compare_sums()
        else:
            self._look_for_strangers()
        if self.verdict.gone:
            self.verdict.remarks.append(
                f"{self.verdict.gone:,} offsets are gone from the log, and are taken on trust"
            )

    # ── a round ──────────────────────────────────────────────────────────────────────

    def _round(self, pieces: list[Piece]) -> None:
        in_table = {piece: np.zeros(piece.range.size, np.int64) for piece in pieces}
        if self.promise.holds != "count":
            self._count_rows(pieces, in_table)
        for following in joined(pieces):
            whole = Range(*following[0].range[:2], following[-1].range.end)
            in_log = self._in_log(whole, committed=self.committed)
            for piece in following:
                shift = piece.range.start - following[0].range.start
                self._compare(piece, in_table[piece], in_log[shift : shift + piece.range.size])

    def _count_rows(self, pieces: list[Piece], counts: dict[Piece, Counts]) -> None:
        by_partition: dict[TopicPartition, list[Piece]] = defaultdict(list)
        for piece in pieces:
            by_partition[piece.range.partition].append(piece)
        batches = sorted({piece.batch for piece in pieces})
        for rows in self.table.scan(ORIGIN, batches, _within(pieces)):
            for partition, offsets in _by_partition(rows):
                for piece in by_partition.get(partition, ()):
                    counts[piece] += _tally(offsets, piece.range)

    def _compare(self, piece: Piece, in_table: Counts, in_log: Flags) -> None:
        offsets = piece.range
        dead = _tally(self.dead.get(offsets.partition, _NONE), offsets)
        self.verdict.rows += int(in_table.sum())
        self.verdict.dead_letters += int(dead.sum())
        twice = np.flatnonzero(in_table + dead > 1)
        self._report("duplicated", "there more than once", piece, twice)
        log = self.logs.get(offsets.partition)
        if log is None:
            self._report("gone", "the log has no such partition", piece, np.arange(offsets.size))
            return
        self.verdict.records += int(in_log.sum())
        self.verdict.gone += max(0, min(log.start, offsets.end) - offsets.start)
        beyond = np.arange(max(offsets.start, log.end), offsets.end) - offsets.start
        self._report("beyond", f"the log ends at {log.end}", piece, beyond)
        there = in_table + dead > 0
        if self.promise.holds == "every":
            self._report("missing", "not in the table", piece, np.flatnonzero(in_log & ~there))
        if self.promise.holds != "count" and offsets.partition.topic not in self.compacted:
            known = np.arange(offsets.start, offsets.end)
            self._report_unknown(piece, there & ~in_log & (known >= log.start) & (known < log.end))

    def _report_unknown(self, piece: Piece, unknown: Flags) -> None:
        if self.committed and unknown.any():
            aborted = unknown & self._in_log(piece.range, committed=False)
            why = "of aborted transactions; have the query read_committed, or check with --uncommitted"
            self._report("aborted", why, piece, np.flatnonzero(aborted))
            unknown = unknown & ~aborted
        self._report("unknown", "not in the log", piece, np.flatnonzero(unknown))

    def _in_log(self, wanted: Range, *, committed: bool) -> Flags:
        """Which offsets have a record, as far as there is a log."""
        found = np.zeros(wanted.size, np.bool_)
        log = self.logs.get(wanted.partition, Log(0, 0))
        start, end = max(wanted.start, log.start), min(wanted.end, log.end)
        if start < end:
            with ColumnReader(self.client, wanted.partition, start, end, committed=committed) as reader:
                for rows in reader:
                    found[rows.column("offset").to_numpy() - wanted.start] = True
        return found

    def _report(self, what: str, why: str, piece: Piece, at: np.ndarray[Any, Any]) -> None:
        if len(at):
            told = f"{runs(at + piece.range.start)} {why}"
            batch = None if piece.batch == EARLIER else piece.batch
            self.verdict.findings.append(Finding(what, told, batch, piece.of, len(at)))

    # ── the whole table ──────────────────────────────────────────────────────────────

    def _look_for_strangers(self) -> None:
        """Rows that belong to no range."""
        total = self.table.count_rows()
        if total != self.verdict.rows:
            told = f"{total - self.verdict.rows:,} rows are of offsets that no batch has"
            self.verdict.findings.append(Finding("unknown", told, offsets=total - self.verdict.rows))

    def _compare_sums(self) -> None:
        assert self.promise.count is not None
        verdict, column = self.verdict, self.promise.count
        counted = sum(pc.sum(rows.column(0)).as_py() or 0 for rows in self.table.scan([column]))
        dropped = sum(each.late for each in self.commits)
        verdict.rows = counted
        short = verdict.records - verdict.dead_letters - counted
        if verdict.gone:
            verdict.remarks.append(f"the log is not whole any more, so the sum of {column!r} proves little")
            short = max(short, 0)
        if short < 0:
            told = f"{column!r} adds up to {counted:,}, {-short:,} more than the records of the log"
            verdict.findings.append(Finding("duplicated", told, offsets=-short))
        elif short and self.commits[-1].mode == "append":
            verdict.remarks.append(f"{short:,} records are in windows that are open, or were late")
        elif short >= dropped > 0:
            verdict.late = short
            verdict.remarks.append(f"{short:,} records came late and were dropped by the watermark")
        elif short:
            told = f"{column!r} adds up to {counted:,}, and {short:,} records of the log are not counted"
            verdict.findings.append(Finding("missing", told, offsets=short))

    # ── the log ──────────────────────────────────────────────────────────────────────

    def _logs(self) -> dict[TopicPartition, Log]:
        partitions = sorted({each.partition for commit in self.commits for each in commit.ranges})
        return _logs(Admin(self.client), partitions, committed=self.committed)

    def _is_compacted(self, topic: str) -> bool:
        configs = Admin(self.client).configs(Resource(ResourceType.TOPIC, topic))
        return any(each.name == "cleanup.policy" and "compact" in (each.value or "") for each in configs)

    def _dead_letters(self, letters: DeadLetters | None) -> dict[TopicPartition, Counts]:
        """The offsets of the records that are dead letters, by where they come from."""
        if letters is None:
            return {}
        found: dict[TopicPartition, list[Counts]] = defaultdict(list)
        for partition, log in _logs_of(Admin(self.client), letters.topic).items():
            with ColumnReader(
                self.client, partition, log.start, log.end, headers=True, committed=True
            ) as reader:
                for rows in reader:
                    came = origins(rows, letters.reader)
                    table = pa.record_batch(
                        [came.topics, pa.array(came.partitions), pa.array(came.offsets)], names=list(ORIGIN)
                    )
                    for origin, offsets in _by_partition(table):
                        found[origin].append(offsets)
        return {origin: np.concatenate(parts) for origin, parts in found.items()}


_NONE: Counts = np.empty(0, np.int64)


def _logs(admin: Admin, partitions: list[TopicPartition], *, committed: bool) -> dict[TopicPartition, Log]:
    """From where to where each log goes; those that are not there are left out."""
    found = {}
    for topic in sorted({each.topic for each in partitions}):
        there = _logs_of(admin, topic, committed=committed)
        found.update({each: there[each] for each in partitions if each in there})
    return found


def _logs_of(admin: Admin, topic: str, *, committed: bool = True) -> dict[TopicPartition, Log]:
    try:
        described = admin.topic(topic)
    except ProtocolError as error:
        if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return {}
        raise
    partitions = [TopicPartition(topic, each.number) for each in described.partitions]
    starts = admin.list_offsets(dict.fromkeys(partitions, EARLIEST))
    ends = admin.list_offsets(dict.fromkeys(partitions, LATEST), committed=committed)
    return {each: Log(starts[each].offset, ends[each].offset) for each in partitions}


def _within(pieces: Sequence[Piece]) -> Any:
    """The filter by which a dataset passes over files that have none of these offsets."""
    start = min(piece.range.start for piece in pieces)
    end = max(piece.range.end for piece in pieces)
    return (pc.field("offset") >= start) & (pc.field("offset") < end)


def _by_partition(rows: Any) -> Iterator[tuple[TopicPartition, Counts]]:
    """Offsets by partition, of rows with topic, partition and offset."""
    topics = rows.column("topic").dictionary_encode()
    partitions = rows.column("partition").to_numpy(zero_copy_only=False)
    offsets = rows.column("offset").to_numpy(zero_copy_only=False)
    codes = topics.indices.to_numpy(zero_copy_only=False)
    for code, topic in enumerate(topics.dictionary.to_pylist()):
        of_topic = codes == code
        for partition in np.unique(partitions[of_topic]):
            yield TopicPartition(topic, int(partition)), offsets[of_topic & (partitions == partition)]


def _tally(offsets: Counts, within: Range) -> Counts:
    """How often each offset of a range is there."""
    inside = offsets[(offsets >= within.start) & (offsets < within.end)] - within.start
    return np.bincount(inside, minlength=within.size).astype(np.int64)
