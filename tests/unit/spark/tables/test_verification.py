"""Tables beside logs that agree with them, and that do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from andiron.client.blocking.client import Client
from andiron.model.ids import TopicPartition
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.spark.frames import dead_letters
from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.source.plan import Range
from andiron.spark.tables import commit_chain
from andiron.spark.tables.parquet import ParquetTable
from andiron.spark.tables.table_commit import TableCommit, TablePromise
from andiron.spark.tables.verdict import Verdict
from andiron.spark.tables.verification import verify
from andiron.wire.apis import ApiKey
from andiron.wire.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from andiron.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from unit.spark.tables.worlds import T0, draft, table_of
from unit.spark.world import World

DEAD = TablePromise("every", None, DeadLetters("dead", "me"))


class Place:
    """A log of ten records in t-0, and a table that is written by hand."""

    def __init__(self, world: World, table: ParquetTable) -> None:
        self.world, self.table, self.policy = world, table, "delete"
        self.reached: list[
            int
        ] = []  # by the dead letters' reader, each time that it is asked; the last one stays
        world.broker.on(ApiKey.DESCRIBE_CONFIGS, self.configs)
        world.broker.on(ApiKey.OFFSET_FETCH, self.offsets)

    def configs(self, request: Any) -> DescribeConfigsResponse:
        asked = request.resources[0]
        told = DescribeConfigsResourceResult("cleanup.policy", self.policy)
        row = DescribeConfigsResult(0, None, asked.resource_type, asked.resource_name, [told])
        return DescribeConfigsResponse(results=[row])

    def offsets(self, request: Any) -> OffsetFetchResponse:
        """How far the dead letters' reader is."""
        assert request.groups[0].group_id == "readers"
        reached = self.reached.pop(0) if len(self.reached) > 1 else self.reached[0]
        row = OffsetFetchResponsePartitions(0, reached, metadata="")
        topics = [OffsetFetchResponseTopics("t", partitions=[row])]
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("readers", topics)])

    def add(self, batch: int, start: int, end: int, rows: pa.Table | list[int], **more: Any) -> None:
        """A batch of the table."""
        found = table_of(rows) if isinstance(rows, list) else rows
        self.table.files.make_directory(f"batch={batch}")
        pq.write_table(found, self.table.files.path(f"batch={batch}/part-0.parquet"))
        commit = draft(batch, start, end, rows=found.num_rows, **more)
        self.note(commit)

    def note(self, commit: TableCommit) -> None:
        self.table.files.write(f"batch={commit.batch}/_commit.json", json.dumps(commit.as_json()))

    def remove(self, offset: int) -> None:
        """A record less, as compaction leaves the log."""
        log = self.world.logs[T0]
        runs = [(0, offset), (offset + 1, log.end)]
        log.batches[:] = [
            bytes(build([Record(0, 1000, None, b"")] * (end - start), base_offset=start))
            for start, end in runs
        ]

    def refuse(self, *offsets: int, reader: str = "me") -> None:
        """Dead letters of t-0."""
        origin = {dead_letters.TOPIC: "t", dead_letters.PARTITION: "0", dead_letters.READER: reader}
        records = []
        for at, offset in enumerate(offsets):
            told = {**origin, dead_letters.OFFSET: str(offset)}
            headers = tuple((name, value.encode()) for name, value in told.items())
            records.append(Record(at, 1000, None, b"bad", headers))
        log = self.world.logs[TopicPartition("dead", 0)]
        log.batches.append(bytes(build(records, base_offset=log.end)))
        log.end += len(offsets)

    def verify(self, *, wait_s: float = 0, **options: Any) -> Verdict:
        options["wait_s"] = wait_s
        with Client(self.world.broker.bootstrap) as client:
            return verify(self.table, client, **options)

    def findings(self) -> list[tuple[str, str]]:
        return [(each.what, str(each)) for each in self.verify().findings]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with World() as world:
        world.make("t", 1, 10)
        world.make("dead", 1)
        yield Place(world, ParquetTable(str(tmp_path / "table")))


def test_a_table_with_every_record_once_agrees(place: Place) -> None:
    place.add(0, 0, 0, [])
    place.add(1, 0, 6, [0, 1, 2, 3, 4, 5])
    place.add(2, 6, 10, [9, 8, 7, 6])

    verdict = place.verify()

    assert verdict.agrees
    assert (verdict.batches, verdict.offsets, verdict.records, verdict.rows) == (3, 10, 10, 10)


def test_it_is_the_same_piece_by_piece(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_chain.rounds_of, "__defaults__", (3,))
    place.add(0, 0, 10, [0, 1, 2, 3, 4, 6, 6, 8, 9])

    assert place.findings() == [
        ("missing", "batch 0, t-0 [0, 10): 5 not in the table"),
        ("duplicated", "batch 0, t-0 [0, 10): 6 there more than once"),
        ("missing", "batch 0, t-0 [0, 10): 7 not in the table"),
    ]


def test_which_offsets_are_missing_or_double_is_told_by_batch(place: Place) -> None:
    place.add(0, 0, 5, [0, 2, 2, 3, 4])
    place.add(1, 5, 10, [5, 6])

    assert place.findings() == [
        ("duplicated", "batch 0, t-0 [0, 5): 2 there more than once"),
        ("missing", "batch 0, t-0 [0, 5): 1 not in the table"),
        ("missing", "batch 1, t-0 [5, 10): 7-9 not in the table"),
    ]


def test_a_row_that_is_in_no_range_is_unknown(place: Place) -> None:
    place.add(0, 0, 5, [0, 1, 2, 3, 4, 50])

    assert place.findings() == [("unknown", "1 rows are of offsets that no batch has")]


def test_a_row_that_the_log_does_not_have_is_unknown(place: Place) -> None:
    place.remove(2)
    place.add(0, 0, 4, [0, 1, 2, 3])

    assert place.findings() == [("unknown", "batch 0, t-0 [0, 4): 2 not in the log")]


def test_compaction_removes_what_the_table_may_have(place: Place) -> None:
    place.remove(2)
    place.add(0, 0, 4, [0, 1, 2, 3])
    place.policy = "compact,delete"

    assert place.verify().agrees


def test_a_record_may_be_a_dead_letter_instead(place: Place) -> None:
    place.add(0, 0, 10, [0, 1, 2, 3, 5, 6, 7, 8], promise=DEAD)
    place.refuse(4, 9)
    place.refuse(3, reader="somebody else")

    verdict = place.verify()

    assert verdict.agrees
    assert verdict.dead_letters == 2


def test_a_record_is_not_both_a_row_and_a_dead_letter(place: Place) -> None:
    place.add(0, 0, 10, list(range(10)), promise=DEAD)
    place.refuse(4)

    assert place.findings() == [("duplicated", "batch 0, t-0 [0, 10): 4 there more than once")]


def test_there_need_be_no_dead_letter_topic(place: Place) -> None:
    place.world.drop("dead")
    place.add(0, 0, 10, list(range(10)), promise=DEAD)

    assert place.verify().agrees


def test_a_selection_has_no_missing_records(place: Place) -> None:
    place.add(0, 0, 10, [1, 2, 2], promise=TablePromise("some"))

    assert place.findings() == [("duplicated", "batch 0, t-0 [0, 10): 2 there more than once")]


def test_a_gap_in_the_chain_is_told(place: Place) -> None:
    place.add(0, 0, 4, [0, 1, 2, 3])
    place.add(1, 6, 10, [6, 7, 8, 9])

    assert place.findings() == [("missing", "batch 1, t-0 [4, 6): no batch has them")]


def test_batches_that_are_gone_are_missing(place: Place) -> None:
    place.add(3, 4, 10, list(range(4, 10)))

    assert place.findings() == [("missing", "t-0 [0, 4): 0-3 not in the table")]


def test_what_the_log_has_no_more_is_taken_on_trust(place: Place) -> None:
    place.world.delete_before("t", 0, 6)
    place.add(0, 0, 10, [0, 1, 5, 6, 7, 8, 9])

    verdict = place.verify()

    assert verdict.agrees
    assert (verdict.gone, verdict.records) == (6, 4)
    assert verdict.remarks == ["6 offsets are gone from the log, and are taken on trust"]


def test_a_log_that_is_shorter_than_the_table_is_another(place: Place) -> None:
    place.add(0, 0, 12, list(range(12)))

    assert place.findings() == [("beyond", "batch 0, t-0 [0, 12): 10-11 the log ends at 10")]


def test_a_topic_that_is_gone_is_told(place: Place) -> None:
    place.world.drop("t")
    place.add(0, 0, 2, [0, 1])

    assert place.findings() == [("gone", "batch 0, t-0 [0, 2): 0-1 the log has no such partition")]


def test_an_open_transaction_ends_what_is_compared(place: Place) -> None:
    place.world.logs[T0].open_from = 8
    place.add(0, 0, 10, list(range(10)))

    verdict = place.verify()
    assert verdict.agrees
    assert (verdict.records, verdict.unjudged) == (8, 2)
    assert verdict.remarks == [
        "2 of the records cannot be judged yet: they are of transactions that are open"
    ]
    assert not place.verify(committed=False).unjudged


def counts(*numbers: int) -> pa.Table:
    return pa.table({"records": pa.array(numbers, pa.int64())})


COUNT = TablePromise("count", "records", DeadLetters("dead", "me"))


def test_counts_add_up_to_the_records(place: Place) -> None:
    place.add(0, 0, 10, counts(4, 5), promise=COUNT, mode="upsert")
    place.refuse(3)

    verdict = place.verify()

    assert verdict.agrees
    assert (verdict.rows, verdict.records, verdict.dead_letters) == (9, 10, 1)


@pytest.mark.parametrize(
    ("numbers", "finding"),
    [
        ((4, 4), ("missing", "'records' adds up to 8, and 2 records of the log are not counted")),
        ((4, 8), ("duplicated", "'records' adds up to 12, 2 more than the records of the log")),
        ((), ("missing", "'records' adds up to 0, and 10 records of the log are not counted")),
    ],
)
def test_counts_that_do_not_add_up_are_told(
    place: Place, numbers: tuple[int, ...], finding: tuple[str, str]
) -> None:
    place.add(0, 0, 10, counts(*numbers), promise=COUNT, mode="upsert")

    assert place.findings() == [finding]


def test_late_records_are_told_and_not_held_against_the_table(place: Place) -> None:
    place.add(0, 0, 10, counts(7), promise=COUNT, mode="upsert", late=2)

    verdict = place.verify()

    assert verdict.agrees
    assert verdict.late == 3
    assert verdict.remarks == ["3 records came late and were dropped by the watermark"]


def test_appended_windows_leave_out_those_that_are_open(place: Place) -> None:
    place.add(0, 0, 10, counts(7), promise=COUNT)

    verdict = place.verify()

    assert verdict.agrees
    assert verdict.remarks == ["3 records are in windows that are open, or were late"]


def test_counts_of_a_log_that_was_cut_prove_little(place: Place) -> None:
    place.world.delete_before("t", 0, 4)
    place.add(0, 0, 10, counts(10), promise=COUNT, mode="upsert")

    verdict = place.verify()

    assert verdict.agrees
    assert "proves little" in verdict.remarks[0]


def test_a_table_that_promises_nothing_is_a_chain_at_least(place: Place) -> None:
    place.add(0, 0, 4, [3], promise=TablePromise("other"))
    place.add(1, 5, 10, [3], promise=TablePromise("other"))

    assert place.findings() == [("missing", "batch 1, t-0 [4, 5): no batch has them")]


def test_a_table_without_batches_has_nothing_to_prove(place: Place) -> None:
    assert place.verify().remarks == ["the table has no batches"]


def test_partitions_are_told_apart(place: Place) -> None:
    place.world.grow("t", 2)
    place.world.write("t", 1, 3)
    t1 = TopicPartition("t", 1)
    rows = pa.concat_tables([table_of(list(range(10))), table_of([0, 2], partition=1)])
    place.add(0, 0, 10, rows, ranges=(Range(T0, 0, 10), Range(t1, 0, 3)), since={T0: 0, t1: 0})

    assert place.findings() == [("missing", "batch 0, t-1 [0, 3): 1 not in the table")]


# ── beside what goes on ──────────────────────────────────────────────────────────────

BEHIND = "group readers, whose dead letters they may be, has not come so far"


def elsewhere(promise: TablePromise) -> TablePromise:
    """The dead letters are written by another query, whose group is known."""
    assert promise.dead_letters is not None
    return TablePromise(promise.holds, promise.count, promise.dead_letters._replace(group="readers"))


def test_a_record_that_may_become_a_dead_letter_is_not_held_against_the_table(place: Place) -> None:
    place.reached = [6]
    place.add(0, 0, 10, [0, 1, 2, 3, 5, 6, 7, 9], promise=elsewhere(DEAD))
    place.refuse(4)

    verdict = place.verify()

    assert verdict.agrees
    assert verdict.unjudged == 1
    assert verdict.remarks == [f"1 of the records cannot be judged yet: {BEHIND}"]


def test_what_the_dead_letters_reader_has_passed_is_decided(place: Place) -> None:
    place.reached = [6]
    place.add(0, 0, 10, [0, 1, 2, 3, 6, 7, 8, 9], promise=elsewhere(DEAD))
    place.refuse(4)

    assert place.findings() == [("missing", "batch 0, t-0 [0, 10): 5 not in the table")]
    assert place.verify().unjudged == 0


def test_a_reader_that_is_behind_is_waited_for(place: Place) -> None:
    place.reached = [6, 6, 10]
    place.add(0, 0, 10, counts(4, 4), promise=elsewhere(COUNT), mode="upsert")
    place.refuse(4, 8)

    verdict = place.verify(wait_s=60)

    assert verdict.agrees
    assert (verdict.unjudged, verdict.dead_letters, verdict.remarks) == (0, 2, [])


@pytest.mark.parametrize(
    ("counted", "findings", "unjudged"),
    [
        (10, [], 0),  # it adds up as it is
        (7, [], 3),
        (6, [], 4),
        (5, [("missing", "'records' adds up to 5, and 5 records of the log are not counted")], 0),
        (11, [("duplicated", "'records' adds up to 11, 1 more than the records of the log")], 0),
    ],
)
def test_a_sum_may_lack_no_more_than_what_may_become_dead_letters(
    place: Place, counted: int, findings: list[tuple[str, str]], unjudged: int
) -> None:
    place.reached = [6]
    place.add(0, 0, 10, counts(counted), promise=elsewhere(COUNT), mode="upsert")

    assert place.findings() == findings
    assert place.verify().unjudged == unjudged


def test_a_sum_may_have_more_by_what_is_in_open_transactions(place: Place) -> None:
    place.world.logs[T0].open_from = 8
    place.add(0, 0, 10, counts(10), promise=TablePromise("count", "records"), mode="upsert")

    verdict = place.verify()

    assert verdict.agrees
    assert verdict.remarks == [
        "2 of the records cannot be judged yet: they are of transactions that are open"
    ]


def test_dead_letters_of_an_open_transaction_are_not_known_yet(place: Place) -> None:
    place.add(0, 0, 10, [0, 1, 2, 3, 5, 6, 7, 8, 9], promise=DEAD)
    place.refuse(4)
    place.world.logs[TopicPartition("dead", 0)].open_from = 0

    verdict = place.verify()

    assert verdict.agrees
    assert verdict.remarks == [
        "1 of the records cannot be judged yet: a transaction is open in dead, which has the dead letters"
    ]


def test_the_group_of_the_dead_letters_reader_may_be_told(place: Place) -> None:
    place.reached = [0]
    place.add(0, 0, 10, [0], promise=DEAD)

    verdict = place.verify()
    assert not verdict.agrees
    assert "--reader-group" in verdict.remarks[0]
    assert place.verify(reader_group="readers").unjudged == 9


def test_a_batch_that_is_committed_meanwhile_is_left_out(place: Place) -> None:
    place.add(0, 0, 5, [0, 1, 2, 3, 4])
    now = place.table.as_of_now()
    place.add(1, 5, 10, [5, 6, 7, 8, 9])

    with Client(place.world.broker.bootstrap) as client:
        for table, rows in ((now, 5), (place.table, 10)):
            verdict = verify(table, client)
            assert verdict.agrees
            assert (verdict.rows, table.count_rows()) == (rows, rows)
