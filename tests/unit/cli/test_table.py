"""`andiron table`: what it shows of a table, and what its exit code says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.tables.parquet import ParquetTable
from andiron.spark.tables.table_commit import TablePromise
from unit.spark.tables.test_verification import Place
from unit.spark.world import World


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with World() as world:
        world.make("t", 1, 10)
        yield Place(world, ParquetTable(str(tmp_path / "table")))


def run(place: Place, command: str, *arguments: str) -> Any:
    environment = {"ANDIRON_BOOTSTRAP": place.world.broker.bootstrap}
    return CliRunner(env=environment).invoke(andiron, ["table", command, place.table.location, *arguments])


def test_batches_are_shown_with_their_ranges(place: Place) -> None:
    promise = TablePromise("every", None, DeadLetters("dead"))
    place.add(0, 0, 0, [], promise=promise)
    place.add(1, 0, 6, [0, 1, 2, 3, 4], promise=promise)

    assert run(place, "show").stdout.splitlines() == [
        "Parquet table, append: every record is a row, the others are in dead; written by query q",
        "BATCH  ROWS  OFFSETS  RANGES",
        "    0     0        0  -",
        "    1     5        6  t-0[0,6)",
    ]
    told = json.loads(run(place, "show", "--json").stdout)
    assert told["kind"] == "Parquet"
    assert told["commits"][1]["ranges"] == {"t": {"0": [0, 6]}}


def test_the_newest_batches_are_shown(place: Place) -> None:
    for batch in range(3):
        place.add(batch, batch, batch + 1, [batch])

    told = run(place, "show", "--limit", "1")
    assert told.stdout.splitlines()[2:] == ["    2     1        1  t-0[2,3)"]
    assert told.stderr == "2 older batches not shown; --limit shows more\n"


def test_a_table_that_is_right_is_proved(place: Place) -> None:
    place.add(0, 0, 10, list(range(10)))

    told = run(place, "verify")
    assert told.exit_code == 0
    assert told.stdout == "1 batch, 10 records, 10 rows, 0 dead letters: table and log agree\n"


def test_a_table_that_differs_says_where_and_fails(place: Place) -> None:
    place.add(0, 0, 10, [0, 1, 2, 3, 4, 5, 6, 8, 8])

    told = run(place, "verify")
    assert told.exit_code == 1
    assert told.stdout.splitlines() == [
        "duplicated: batch 0, t-0 [0, 10): 8 there more than once",
        "missing: batch 0, t-0 [0, 10): 7, 9 not in the table",
        "1 batch, 10 records, 9 rows, 0 dead letters: table and log DIFFER",
    ]
    assert json.loads(run(place, "verify", "--json").stdout)["agrees"] is False


def test_what_is_not_decided_yet_is_neither_right_nor_wrong(place: Place) -> None:
    promise = TablePromise("every", None, DeadLetters("dead", "", "readers"))
    place.reached = [8]
    place.add(0, 0, 10, list(range(9)), promise=promise)

    told = run(place, "verify", "--wait", "0")
    assert told.exit_code == 3
    assert told.stdout == (
        "1 batch, 10 records, 9 rows, 0 dead letters: table and log agree as far as it is decided\n"
    )
    assert told.stderr.startswith("1 of the records cannot be judged yet: group readers, ")
    assert json.loads(run(place, "verify", "--wait", "0", "--json").stdout)["unjudged"] == 1


def test_remarks_are_kept_apart(place: Place) -> None:
    place.world.delete_before("t", 0, 6)
    place.add(0, 0, 10, list(range(10)))

    told = run(place, "verify", "--uncommitted")
    assert told.exit_code == 0
    assert told.stderr == "6 offsets are gone from the log, and are taken on trust\n"


def test_what_is_no_table_is_an_error_in_one_line(place: Place, tmp_path: Path) -> None:
    told = run(place, "show")
    assert told.exit_code == 1
    assert told.stderr == f"andiron: there is no table at {tmp_path}/table: nothing is there\n"
