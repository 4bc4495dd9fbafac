"""Which batch may follow which, and what is noted of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from andiron.model.ids import TopicPartition
from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.source.plan import Range
from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.table_commit import TableCommit, TablePromise, next_commit, read_commit

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
LAST = TableCommit("q", 4, (Range(T0, 10, 20),), {T0: 5})


def after(last: TableCommit | None, batch: int, *ranges: Range, query: str = "q") -> TableCommit | None:
    return next_commit(last, query, batch, ranges, "the table t")


def test_the_first_batch_says_where_the_table_begins() -> None:
    assert after(None, 0, Range(T0, 5, 5)) == TableCommit("q", 0, (Range(T0, 5, 5),), {T0: 5})


def test_a_batch_begins_where_the_one_before_it_ends() -> None:
    assert after(LAST, 5, Range(T0, 20, 30)) == TableCommit("q", 5, (Range(T0, 20, 30),), {T0: 5})


def test_a_batch_that_is_there_is_not_made_again() -> None:
    assert after(LAST, 4, Range(T0, 10, 20)) is None


def test_a_new_partition_begins_where_it_begins() -> None:
    made = after(LAST, 5, Range(T0, 20, 20), Range(T1, 0, 3))

    assert made is not None
    assert made.since == {T0: 5, T1: 0}


def test_a_partition_that_is_gone_stays_where_it_was() -> None:
    made = after(LAST, 5, Range(T1, 0, 3))

    assert made is not None
    assert made.ranges == (Range(T0, 20, 20), Range(T1, 0, 3))


@pytest.mark.parametrize(
    ("last", "batch", "begins", "says"),
    [
        (None, 3, 10, "is empty, and the checkpoint goes on with batch 3"),
        (LAST, 3, 0, "older than the table"),
        (LAST, 6, 20, "what is between went elsewhere"),
        (
            LAST,
            4,
            11,
            "has batch 4 with other offsets: t-0 \\[10, 20\\), and the checkpoint says t-0 \\[11, 30\\)",
        ),
        (LAST, 5, 19, "holds t-0 up to offset 20, and batch 5 begins at 19"),
        (LAST, 5, 21, "holds t-0 up to offset 20, and batch 5 begins at 21"),
    ],
)
def test_what_does_not_join_on_is_refused(
    last: TableCommit | None, batch: int, begins: int, says: str
) -> None:
    with pytest.raises(TableError, match=says):
        after(last, batch, Range(T0, begins, 30))


def test_another_query_is_refused_and_told_why() -> None:
    with pytest.raises(
        TableError, match=r"written by the query q, and this is r: .* old checkpointLocation back"
    ):
        after(LAST, 5, Range(T0, 20, 30), query="r")


def test_a_partition_that_comes_back_from_its_beginning_is_refused() -> None:
    gone = replace(LAST, batch=5, ranges=(Range(T0, 20, 20), Range(T1, 0, 3)))

    with pytest.raises(TableError, match="topic was made anew"):
        after(gone, 6, Range(T0, 0, 4), Range(T1, 3, 3))


def test_a_commit_is_read_as_it_was_written() -> None:
    promise = TablePromise("count", "records", DeadLetters("dead", "me"))
    made = replace(LAST, rows=3, mode="upsert", promise=promise, columns={"a": "int"}, attempt="f", late=2)

    assert read_commit(json.dumps(made.as_json()), "here") == made
    assert made.offsets == 10


@pytest.mark.parametrize("told", ["", "{}", "[]", "null", '{"version": 1}', '{"version": 1, "ranges": 3}'])
def test_what_is_no_commit_is_an_error(told: str) -> None:
    with pytest.raises(TableError, match="here is not"):
        read_commit(told, "here")


def test_a_commit_of_a_later_version_is_an_error() -> None:
    later: dict[str, Any] = {**LAST.as_json(), "version": 9}

    with pytest.raises(TableError, match="here is of version 9"):
        read_commit(json.dumps(later), "here")
