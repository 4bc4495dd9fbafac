"""A table beside its log: whether every record of its ranges is in it, once.

    commits ─▶ chain of ranges ─▶ pieces ─┬─▶ log     which offsets have a record, of committed transactions
                                          ├─▶ table   how often each is there
                                          └─▶ dead letters, by their origin
    missing: in the log alone      duplicated: there twice      unknown or aborted: in the table alone
    unjudged: of an open transaction, or where whoever writes the dead letters has not come to yet

It is done piece by piece, with no more than a million offsets in memory, whatever the size of the table. What the
log has no more, by retention or compaction, cannot be held against the table; how much that is, is told.

All of this may be going on: the table is written, its records' dead letters too, transactions are open. So the table is
held as it is when the comparison begins, and the rest is given some time to come up to it. What is not decided then
cannot be judged, and counts neither for the table nor against it.

A table of aggregates is checked as a whole: its count column adds up to the records of all ranges, less the dead
letters, and less what the watermark has dropped. Appended windows hold the closed ones alone, so there the
sum may be less, by what is in windows that are open.

Read next: commit_chain.py, dead_letter_offsets.py, verdict.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.column_reader import ColumnReader
from andiron.client.core.descriptions import Resource, ResourceType
from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Log, Range
from andiron.spark.tables.commit_chain import EARLIER, Piece, breaks, joined_pieces, rounds_of, with_earlier
from andiron.spark.tables.dead_letter_offsets import (
    Counts,
    Patience,
    by_partition,
    logs_of,
    read_dead_letter_offsets,
)
from andiron.spark.tables.table import ORIGIN, Table
from andiron.spark.tables.table_commit import TableCommit
from andiron.spark.tables.verdict import Finding, Verdict, runs

Flags = np.ndarray[Any, np.dtype[np.bool_]]
WAIT_S = 15.0
OPEN = "they are of transactions that are open"


def verify(
    table: Table, client: Client, *, committed: bool = True, reader_group: str = "", wait_s: float = WAIT_S
) -> Verdict:
    """Compare a table with its log.

    `reader_group` shows how far the query is that writes the dead letters, where the table does not name it. What is
    not decided yet is waited for, as long as `wait_s`.
    """
    table = table.as_of_now()
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
        check = _Verification(table, commits, client, verdict, committed=committed)
        check.prepare(Patience(wait_s), reader_group)
        check.run()
    return verdict


class _Verification:
    """One comparison."""

    def __init__(
        self,
        table: Table,
        commits: Sequence[TableCommit],
        client: Client,
        verdict: Verdict,
        *,
        committed: bool,
    ) -> None:
        self.table, self.commits, self.client, self.verdict = table, commits, client, verdict
        self.committed = committed
        self.promise = commits[-1].promise
        self.letters = self.promise.dead_letters
        self.ends = {each.partition: each.end for commit in commits for each in commit.ranges}
        self.open = self.undecided = 0  # offsets of open transactions; records that may become dead letters

    def prepare(self, patience: Patience, reader_group: str) -> None:
        """Read the ends of logs, dead letters and their reader's group, and wait a while for those behind the table."""
        self.tops = self._logs(committed=False)
        self.logs = self._logs(committed=self.committed)
        patience.wait(self._has_no_open_transaction)
        self.compacted = {topic for topic in {each.topic for each in self.logs} if self._is_compacted(topic)}
        if self.letters is not None and reader_group:
            self.letters = self.letters._replace(group=reader_group)
        self.dead = read_dead_letter_offsets(self.client, self.letters, self.ends, patience)

    def run(self) -> None:
        for pieces in rounds_of(self.commits):
            self._round(pieces)
        if self.promise.holds == "count":
            self._compare_sums()
        else:
            self._report_rows_outside()
            self._count_unjudged(self.open, OPEN)
            self._count_unjudged(self.undecided, self.dead.why)
        if self.verdict.gone:
            self.verdict.remarks.append(
                f"{self.verdict.gone:,} offsets are gone from the log, and are taken on trust"
            )
        self._advise()

    # ── a round ──────────────────────────────────────────────────────────────────────

    def _round(self, pieces: list[Piece]) -> None:
        in_table = {piece: np.zeros(piece.range.size, np.int64) for piece in pieces}
        if self.promise.holds != "count":
            self._count_rows(pieces, in_table)
        for following in joined_pieces(pieces):
            whole = Range(*following[0].range[:2], following[-1].range.end)
            in_log = self._in_log(whole, committed=self.committed)
            for piece in following:
                shift = piece.range.start - following[0].range.start
                self._compare(piece, in_table[piece], in_log[shift : shift + piece.range.size])

    def _count_rows(self, pieces: list[Piece], counts: dict[Piece, Counts]) -> None:
        pieces_of: dict[TopicPartition, list[Piece]] = defaultdict(list)
        for piece in pieces:
            pieces_of[piece.range.partition].append(piece)
        batches = sorted({piece.batch for piece in pieces})
        for rows in self.table.scan(ORIGIN, batches, _within(pieces)):
            for partition, offsets in by_partition(rows):
                for piece in pieces_of.get(partition, ()):
                    counts[piece] += _tally(offsets, piece.range)

    def _compare(self, piece: Piece, in_table: Counts, in_log: Flags) -> None:
        offsets = piece.range
        dead = _tally(self.dead.of(offsets.partition), offsets)
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
        top = max(log.end, self.tops.get(offsets.partition, log).end)
        self.open += max(0, min(top, offsets.end) - max(log.end, offsets.start))
        beyond = np.arange(max(offsets.start, top), offsets.end) - offsets.start
        self._report("beyond", f"the log ends at {top}", piece, beyond)
        there = in_table + dead > 0
        neither = in_log & ~there
        decided = self.dead.end(offsets.partition, offsets.end)
        undecided = neither & (np.arange(offsets.start, offsets.end) >= decided)
        if self.promise.holds in ("every", "count"):
            self.undecided += int(undecided.sum())
        if self.promise.holds == "every":
            self._report("missing", "not in the table", piece, np.flatnonzero(neither & ~undecided))
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

    def _report_rows_outside(self) -> None:
        """Report rows of the table that belong to no range of a commit."""
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
        if short and -self.open <= short <= self.undecided:
            self._count_unjudged(abs(short), OPEN if short < 0 else self.dead.why)
        elif short < 0:
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

    def _count_unjudged(self, records: int, why: str) -> None:
        """Count records as unjudged, with the reason."""
        if records:
            self.verdict.unjudged += records
            self.verdict.remarks.append(f"{records:,} of the records cannot be judged yet: {why}")

    def _advise(self) -> None:
        letters, verdict = self.letters, self.verdict
        if letters and not letters.group and any(each.what == "missing" for each in verdict.findings):
            verdict.remarks.append(
                f"if another query writes the dead letters in {letters.topic}, it may be behind the table; "
                "--reader-group names its group, by which that is known"
            )

    # ── the log ──────────────────────────────────────────────────────────────────────

    def _logs(self, *, committed: bool) -> dict[TopicPartition, Log]:
        """Log start and end offsets of each partition; those that do not exist are left out."""
        found: dict[TopicPartition, Log] = {}
        for topic in sorted({each.topic for each in self.ends}):
            there = logs_of(Admin(self.client), topic, committed=committed)
            found.update({each: log for each, log in there.items() if each in self.ends})
        return found

    def _has_no_open_transaction(self) -> bool:
        """Whether no transaction is open below the offsets that the table holds."""
        if all(log.end >= min(self.ends[each], self.tops[each].end) for each, log in self.logs.items()):
            return True
        self.logs = self._logs(committed=self.committed)
        return False

    def _is_compacted(self, topic: str) -> bool:
        configs = Admin(self.client).configs(Resource(ResourceType.TOPIC, topic))
        return any(each.name == "cleanup.policy" and "compact" in (each.value or "") for each in configs)


def _within(pieces: Sequence[Piece]) -> Any:
    """The filter by which a dataset passes over files that have none of these offsets."""
    start = min(piece.range.start for piece in pieces)
    end = max(piece.range.end for piece in pieces)
    return (pc.field("offset") >= start) & (pc.field("offset") < end)


def _tally(offsets: Counts, within: Range) -> Counts:
    """How often each offset of a range is there."""
    inside = offsets[(offsets >= within.start) & (offsets < within.end)] - within.start
    return np.bincount(inside, minlength=within.size).astype(np.int64)
