"""Tables, checkpoints and rows for tests that have no Spark: what a batch is, without a cluster to compute it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkAttributeError
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from andiron.model.ids import TopicPartition
from andiron.spark.source.plan import Range
from andiron.spark.tables import delta, parquet
from andiron.spark.tables.files import Files
from andiron.spark.tables.table_commit import TableCommit, TablePromise

SCHEMA = (
    StructType().add("id", "string").add("topic", "string").add("partition", "integer").add("offset", "long")
)
T0 = TopicPartition("t", 0)


class Connected:
    """A session through Spark Connect, which has no Java behind it."""

    def __getattr__(self, name: str) -> Any:
        raise PySparkAttributeError(
            errorClass="JVM_ATTRIBUTE_NOT_SUPPORTED", messageParameters={"attr_name": name}
        )


@dataclass
class Rows:
    """What a writer sees of a DataFrame: offsets of t-0."""

    offsets: list[int]
    query: str | None = "q"
    connected: bool = False  # through Spark Connect
    reads: list[str] = field(default_factory=list)

    schema = SCHEMA
    columns = SCHEMA.names

    @property
    def sparkSession(self) -> Any:
        context = SimpleNamespace(getLocalProperty=lambda name: self.query, _jvm=None)
        return Connected() if self.connected else SimpleNamespace(sparkContext=context)

    @property
    def write(self) -> Any:
        saving = SimpleNamespace(save=lambda: self.reads.append("noop"))
        mode = SimpleNamespace(mode=lambda name: saving)
        return SimpleNamespace(format=lambda name: mode)

    def toArrow(self) -> pa.Table:
        self.reads.append("arrow")
        return table_of(self.offsets)

    def as_rows(self) -> DataFrame:
        return cast(DataFrame, self)


def table_of(offsets: list[int], topic: str = "t", partition: int = 0) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([str(each) for each in offsets], pa.string()),
            "topic": pa.array([topic] * len(offsets), pa.string()),
            "partition": pa.array([partition] * len(offsets), pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
        }
    )


def write_parts(rows: Any, files: Files, directory: str) -> None:
    """Two files, as two executors would write them, and what Hadoop leaves beside them."""
    files.make_directory(directory)
    half = len(rows.offsets) // 2
    for number, part in enumerate([rows.offsets[:half], rows.offsets[half:]]):
        pq.write_table(table_of(part), files.path(f"{directory}/part-{number}.snappy.parquet"))
    files.write(f"{directory}/.part-0.snappy.parquet.crc", "")
    rows.reads.append("parquet")


def without_spark(monkeypatch: Any) -> None:
    """Have rows written by this process."""
    monkeypatch.setattr(parquet, "write_parts", write_parts)
    monkeypatch.setattr(delta, "write_parts", write_parts)


def draft(batch: int, start: int, end: int, *, attempt: str = "a1", **more: Any) -> TableCommit:
    columns = {each.name: each.dataType.simpleString() for each in SCHEMA.fields}
    made = TableCommit("q", batch, (Range(T0, start, end),), {T0: 0}, attempt=attempt, columns=columns)
    return TableCommit(**{**{name: getattr(made, name) for name in made.__slots__}, **more})


def checkpoint(at: Path, *ends: int, query: str = "q") -> str:
    """A checkpoint whose batches end at these offsets of t-0."""
    (at / "offsets").mkdir(parents=True, exist_ok=True)
    (at / "metadata").write_text(f'{{"id":"{query}"}}')
    for number, end in enumerate(ends):
        (at / "offsets" / str(number)).write_text(f'v1\n{{}}\n{{"t":{{"0":{end}}}}}')
    return str(at)


__all__ = ["SCHEMA", "T0", "Rows", "TablePromise", "checkpoint", "draft", "table_of", "without_spark"]
