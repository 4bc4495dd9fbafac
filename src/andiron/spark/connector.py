"""`format("andiron")`: what Spark finds under that name, for reading and for writing.

    spark.readStream ──▶ streamReader   source/stream.py        writeStream ──▶ streamWriter ┐ sink/spark_writers.py
    spark.read ────────▶ reader         source/batch.py         write ────────▶ writer       ┘

Spark makes this object anew in each of the processes that plan, read and write, and asks it for the part
it needs. The parts are imported only then: a process that looks for data sources needs none of them, and
a writer needs no reader.

Read next: source/options.py, sink/options.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from andiron.spark.source.options import OF_BATCHES, include_headers, parse_options
from andiron.spark.source.schema import check_schema, spark_schema

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )


class DefaultSource(DataSource):
    """The data source; Spark wants it under this name."""

    @classmethod
    def name(cls) -> str:
        """What stands in format("…")."""
        return "andiron"

    def schema(self) -> StructType:
        """The columns of a read; options that cannot be are refused here, before a query starts."""
        has_end = any(name in self.options for name in OF_BATCHES)
        parse_options(self.options, streaming=not has_end)
        return spark_schema(include_headers(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        """A batch read."""
        from andiron.spark.source.batch import BatchReader

        check_schema(schema, include_headers(self.options))
        return BatchReader(parse_options(self.options, streaming=False))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """A stream."""
        from andiron.spark.source.stream import StreamReader

        check_schema(schema, include_headers(self.options))
        return StreamReader(parse_options(self.options, streaming=True))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """A batch write."""
        from andiron.spark.sink.spark_writers import batch_writer

        return batch_writer(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """A stream's sink."""
        from andiron.spark.sink.spark_writers import stream_writer

        return stream_writer(self.options, schema, overwrite)
