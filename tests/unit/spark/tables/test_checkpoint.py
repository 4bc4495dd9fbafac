"""What a checkpoint says about the offsets of a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range
from andiron.spark.tables.checkpoint import Checkpoint, TableError

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
SETTINGS = '{"batchWatermarkMs":0,"conf":{}}'


def checkpoint(at: Path, *batches: str, query: str = "q") -> Checkpoint:
    (at / "offsets").mkdir(parents=True)
    (at / "metadata").write_text(f'{{"id":"{query}"}}')
    for number, lines in enumerate(batches):
        (at / "offsets" / str(number)).write_text(f"v1\n{SETTINGS}\n{lines}")
    return Checkpoint(str(at))


def test_a_batch_reads_from_where_the_one_before_it_ends(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"t":{"0":5,"1":7}}', '{"t":{"0":9,"1":7}}')

    assert made.ranges(1) == [Range(T0, 5, 9), Range(T1, 7, 7)]


def test_batch_0_says_where_it_begins(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"t":{"0":5,"1":7},"t@0=2,1=7":{}}')

    assert made.ranges(0) == [Range(T0, 2, 5), Range(T1, 7, 7)]


def test_batch_0_is_empty_where_it_does_not_say_where_it_begins(tmp_path: Path) -> None:
    assert checkpoint(tmp_path, '{"t":{"0":5}}').ranges(0) == [Range(T0, 5, 5)]


def test_batch_0_begins_where_the_stock_source_noted_it(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"t":{"0":5}}')
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "sources" / "0" / "0").write_text('\0v1\n{"t":{"0":2}}')

    assert made.ranges(0) == [Range(T0, 2, 5)]


def test_a_partition_that_is_new_begins_at_its_beginning(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"t":{"0":5}}', '{"t":{"0":5,"1":3}}')

    assert made.ranges(1) == [Range(T0, 5, 5), Range(T1, 0, 3)]


def test_other_sources_have_no_part_in_it(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"logOffset":1}\n{"t":{"0":5}}\n-', '{"logOffset":2}\n{"t":{"0":9}}\n4')

    assert made.ranges(1) == [Range(T0, 5, 9)]


def test_two_sources_of_one_partition_are_refused(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"t":{"0":5}}\n{"t":{"0":5}}')

    with pytest.raises(TableError, match="two sources of the query read t-0"):
        made.ranges(0)


def test_a_query_without_topics_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="reads no topic"):
        checkpoint(tmp_path, '{"logOffset":1}').ranges(0)


def test_a_log_that_goes_back_is_refused(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, '{"t":{"0":5}}', '{"t":{"0":3}}')

    with pytest.raises(TableError, match="t-0 ends before where it was read up to"):
        made.ranges(1)


def test_a_batch_that_the_checkpoint_does_not_have_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no offsets of batch 3"):
        checkpoint(tmp_path).ranges(3)


def test_another_format_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    made = checkpoint(tmp_path, "")
    (tmp_path / "offsets" / "0").write_text("v2\n{}\n{}")

    with pytest.raises(TableError, match=r"offsetLog\.formatVersion=1"):
        made.ranges(0)


def test_the_query_is_told_by_its_id(tmp_path: Path) -> None:
    assert checkpoint(tmp_path, query="6c1f").query() == "6c1f"


@pytest.mark.parametrize("metadata", [None, "", "[]", '{"id":1}', "{"])
def test_a_directory_without_a_query_is_no_checkpoint(tmp_path: Path, metadata: str | None) -> None:
    if metadata is not None:
        (tmp_path / "metadata").write_text(metadata)

    with pytest.raises(TableError, match="not the checkpoint of a query"):
        Checkpoint(str(tmp_path)).query()
