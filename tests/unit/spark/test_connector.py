"""What Spark finds under format("andiron")."""

from __future__ import annotations

import pytest
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StructType

import pyspark_andiron
from andiron.model.settings import SettingError
from andiron.spark.connector import DefaultSource
from andiron.spark.sink.spark_writers import BatchSink, StreamSink
from andiron.spark.source.batch import BatchReader
from andiron.spark.source.schema import spark_schema
from andiron.spark.source.stream import StreamReader

LEAST = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t"}


def source(**given: str) -> DefaultSource:
    return DefaultSource(CaseInsensitiveDict(LEAST | given))


def test_spark_finds_it_by_its_package() -> None:
    assert pyspark_andiron.DefaultSource is DefaultSource
    assert DefaultSource.name() == "andiron"


def test_headers_are_a_column_where_they_are_asked_for() -> None:
    assert source().schema() == spark_schema(False)
    assert source(includeHeaders="TRUE").schema() == spark_schema(True)


def test_wrong_options_are_refused_before_a_query_starts() -> None:
    with pytest.raises(SettingError, match="subscribe, subscribePattern, assign"):
        source(assign="{}").schema()
    with pytest.raises(SettingError, match="cannot end at earliest"):
        source(endingOffsets="earliest").schema()


def test_there_is_a_reader_for_streams_and_one_for_batches() -> None:
    assert isinstance(source().streamReader(spark_schema(False)), StreamReader)
    assert isinstance(source(endingOffsets="latest").reader(spark_schema(False)), BatchReader)
    with pytest.raises(SettingError, match="a stream has no end"):
        source(endingOffsets="latest").streamReader(spark_schema(False))
    with pytest.raises(SettingError, match="schema: cannot be chosen"):
        source().reader(spark_schema(True))


def test_there_is_a_sink_for_streams_and_one_for_batches() -> None:
    rows = StructType().add("value", "string")

    assert isinstance(source(topic="t").streamWriter(rows, False), StreamSink)
    assert isinstance(source(topic="t").writer(rows, False), BatchSink)
