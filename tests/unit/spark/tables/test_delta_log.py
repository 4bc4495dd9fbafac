"""Delta's log: what is found in it, and who may add to it."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pytest

from andiron.spark.tables.checkpoint import TableError
from andiron.spark.tables.delta_log import DeltaLog, delta_schema
from andiron.spark.tables.table_writer import AlreadyCommitted
from unit.spark.tables.worlds import SCHEMA, draft, table_of


@pytest.fixture
def log(tmp_path: Path) -> DeltaLog:
    return DeltaLog(str(tmp_path / "table"))


def test_where_there_is_no_table_there_are_no_commits(log: DeltaLog) -> None:
    assert log.open() is None
    assert log.last() is None
    assert list(log.commits()) == []


def test_a_commit_is_found_again(log: DeltaLog) -> None:
    log.create(SCHEMA, [], draft(0, 0, 0))
    log.append(log.open(), SCHEMA, [], draft(1, 0, 4))

    assert log.last() == draft(1, 0, 4)
    assert list(log.commits()) == [draft(0, 0, 0), draft(1, 0, 4)]
    assert log.open().transaction_version("q") == 1


def test_commits_of_others_are_passed_over(log: DeltaLog) -> None:
    log.create(SCHEMA, [], draft(0, 0, 0))
    for _ in range(25):
        log.open().optimize.compact()
        deltalake.write_deltalake(log.location, table_of([1]), mode="append")

    assert log.last() == draft(0, 0, 0)


def test_a_table_of_others_is_refused(log: DeltaLog) -> None:
    deltalake.write_deltalake(log.location, table_of([1]))

    with pytest.raises(TableError, match="has not made"):
        log.last()


def test_of_two_runs_that_commit_a_batch_one_does(log: DeltaLog) -> None:
    log.create(SCHEMA, [], draft(0, 0, 0))
    opened = [log.open(), log.open()]
    log.append(opened[0], SCHEMA, [], draft(1, 0, 4, attempt="a1"))

    with pytest.raises(AlreadyCommitted):
        log.append(opened[1], SCHEMA, [], draft(1, 0, 4, attempt="a2"))
    assert len(list(log.commits())) == 2


def test_of_two_runs_that_make_the_table_one_does(log: DeltaLog) -> None:
    log.create(SCHEMA, [], draft(0, 0, 0, attempt="a1"))

    with pytest.raises(AlreadyCommitted):
        log.create(SCHEMA, [], draft(0, 0, 0, attempt="a2"))


def test_a_run_that_was_fenced_cannot_commit(log: DeltaLog) -> None:
    log.create(SCHEMA, [], draft(0, 0, 0))
    paused = log.open()

    log.fence(draft(0, 0, 0))

    with pytest.raises(TableError, match="batch 1 could not be committed"):
        log.append(paused, SCHEMA, [], draft(1, 0, 4))
    log.append(log.open(), SCHEMA, [], draft(1, 0, 4))
    assert [each.batch for each in log.commits()] == [0, 1]


def test_a_commit_that_fails_says_why(log: DeltaLog) -> None:
    log.create(SCHEMA, [], draft(0, 0, 0))

    with pytest.raises(TableError, match=r"batch 0 could not be committed: .*already exists"):
        log.create(SCHEMA, [], draft(0, 0, 0, query="r"))


def test_no_column_is_required() -> None:
    assert all(field.nullable for field in delta_schema(SCHEMA).fields)
