"""What can be typed at all. What comes of it: tests/spark/test_typed.py."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from pyspark.sql.types import IntegerType, StructType

from andiron.spark.frames.dead_letters import DeadLetters
from andiron.spark.frames.typed import Typed, typed_json

SCHEMA = StructType().add("id", "string")


class Records:
    """A DataFrame, as far as it is asked before anything is made of it."""

    columns = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")


RECORDS: Any = Records()


@pytest.mark.parametrize(
    ("schema", "into", "says"),
    [
        (StructType().add("offset", "long"), None, "'offset' is the name of a record's own column"),
        (SCHEMA, "key", "'key' is the name of a record's own column"),
        (StructType(), None, "no fields"),
        (IntegerType(), None, "not a schema of fields"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any, into: str | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        typed_json(RECORDS, schema, dead_letters="dead", into=into)


def test_records_of_a_topic_have_their_columns() -> None:
    rows: Any = Records()
    rows.columns = ("value",)

    with pytest.raises(ValueError, match="'key' is not there"):
        typed_json(rows, SCHEMA, dead_letters="dead")


def test_what_a_micro_batch_needs_travels_without_the_dataframe() -> None:
    stays: Any = lambda: None  # noqa: E731  (cannot be pickled, as a DataFrame)
    typed = Typed(stays, StructType().add("id", "string"), DeadLetters("dead", "reader"), "order")

    there = pickle.loads(pickle.dumps(typed))
    assert (there.schema, there.dead_letters, there.into) == (typed.schema, typed.dead_letters, "order")
    assert not hasattr(there, "parsed")
