"""JSON as typed rows: whatever a record is, it is a row or a dead letter that says why."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = """
    id STRING NOT NULL, n INT, l BIGINT, x DOUBLE, b BOOLEAN, amount DECIMAL(10,2), at TIMESTAMP, day DATE,
    address STRUCT<city: STRING, zip: INT NOT NULL>, items ARRAY<STRUCT<sku: STRING NOT NULL, price: DECIMAL(10,2)>>,
    tags MAP<STRING, INT>, times ARRAY<TIMESTAMP>
"""
RECORD = "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp"
NOON = datetime.datetime(2026, 1, 2, 12)
ITEM = "array<struct<sku:string,price:decimal(10,2)>>"
INSIDE = "field 'items': something in it is not of its type, " + ITEM

GOOD: dict[str, dict[str, Any]] = {
    '{"id":"a"}': {},
    '{"id":"5"}': {"id": "5"},
    '{"id":"{}"}': {"id": "{}"},
    '{"id":"é"}': {"id": "é"},
    '{"id":"a","id":"b"}': {"id": "b"},
    '{"id":"a","unknown":[1,{}]}': {},
    '{"id":"a","n":null,"items":null,"address":null}': {},
    ' {"id":"a","n":1,"l":2,"x":3,"b":true} \n': {"n": 1, "l": 2, "x": 3.0, "b": True},
    '{"id":"a","amount":12.5}': {"amount": Decimal("12.50")},
    '{"id":"a","amount":"12.50"}': {"amount": Decimal("12.50")},
    '{"id":"a","amount":12.500000}': {"amount": Decimal("12.50")},
    '{"id":"a","at":"2026-01-02T13:00:00+01:00","day":"2026-01-02"}': {"at": NOON, "day": NOON.date()},
    '{"id":"a","at":"2026-01-02 12:00"}': {"at": NOON},
    '{"id":"a","address":{"zip":1}}': {"address": {"city": None, "zip": 1}},
    '{"id":"a","items":[{"sku":"s","price":1.25}]}': {"items": [{"sku": "s", "price": Decimal("1.25")}]},
    '{"id":"a","items":[]}': {"items": []},
    '{"id":"a","tags":{"x":1},"times":["2026-01-02T12:00:00Z"]}': {"tags": {"x": 1}, "times": [NOON]},
}
BAD: dict[str | bytes | None, str] = {
    None: "no value",
    b'{"id":"\xff"}': "not UTF-8",
    "": "an empty value",
    " \n": "an empty value",
    "nonsense": "not JSON",
    '{"id":"a"': "not JSON",
    '{"id":"a",}': "not JSON",
    "{'id':'a'}": "not JSON",
    '{"id":"a","x":NaN}': "not JSON",
    '\ufeff{"id":"a"}': "not JSON",
    '{"id":"a"} x': "something follows the JSON document",
    '{"id":"a"}{"id":"b"}': "something follows the JSON document",
    '{"id":"a"}]} x': "something follows the JSON document",
    '{"id":"a"},{"id":"b"}': "more than one JSON document",
    "null": "not a JSON object",
    "5": "not a JSON object",
    '"id"': "not a JSON object",
    '[{"id":"a"}]': "not a JSON object",
    "{}": "field 'id' is missing",
    '{"ID":"a"}': "field 'id' is missing",
    '{"id":null}': "field 'id' is missing",
    '{"id":5}': "field 'id': \"5\" is not a string",
    '{"id":true}': "field 'id': \"true\" is not a string",
    '{"id":["a"]}': "field 'id': \"[\"a\"]\" is not a string",
    '{"id":"a","n":"1"}': "field 'n': \"1\" is not an int",
    '{"n":"1","id":"a"}': "field 'n': \"1\" is not an int",
    '{"id":"a","n":1.5}': "field 'n': \"1.5\" is not an int",
    '{"id":"a","n":2147483648}': "field 'n': \"2147483648\" is not an int",
    '{"id":"a","x":"1.5"}': "field 'x': \"1.5\" is not a double",
    '{"id":"a","b":1}': "field 'b': \"1\" is not a boolean",
    '{"id":"a","amount":"much"}': "field 'amount': \"much\" is not a decimal(10,2)",
    '{"id":"a","amount":12.345}': "field 'amount': \"12.345\" is not a decimal(10,2)",
    '{"id":"a","amount":100000000}': "field 'amount': \"100000000\" is not a decimal(10,2)",
    '{"id":"a","at":"later"}': "field 'at': \"later\" is not a timestamp",
    '{"id":"a","at":1767355200}': "field 'at': \"1767355200\" is not a timestamp",
    '{"id":"a","at":2026}': "field 'at': \"2026\" is not a timestamp",
    '{"id":"a","day":"2026-13-01"}': "field 'day': \"2026-13-01\" is not a date",
    '{"id":"a","address":{"zip":"x"}}': "field 'address.zip': \"x\" is not an int",
    '{"id":"a","address":{"city":"c"}}': "field 'address.zip' is missing",
    '{"id":"a","address":"x"}': "field 'address': \"x\" is not a struct<city:string,zip:int>",
    '{"id":"a","items":{"sku":"s"}}': "field 'items': \"{\"sku\":\"s\"}\" is not an " + ITEM,
    '{"id":"a","items":[{"sku":"s","price":"much"}]}': INSIDE,
    '{"id":"a","items":[{"sku":"s","price":1.234}]}': INSIDE,
    '{"id":"a","items":[{"price":1}]}': INSIDE,
    '{"id":"a","times":["later"]}': "field 'times': something in it is not of its type, array<timestamp>",
    '{"id":"a","n":"%s"}' % ("y" * 99): "field 'n': \"%s…\" is not an int" % ("y" * 60),
}  # fmt: skip


def as_bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def records(spark: SparkSession, *values: str | bytes | None) -> DataFrame:
    rows = [(b"k", as_bytes(value), "orders", 3, offset, NOON) for offset, value in enumerate(values)]
    return spark.createDataFrame(rows, RECORD)


@pytest.fixture(scope="module")
def parsed(spark: SparkSession) -> Iterator[dict[bytes | None, Any]]:
    """Every record of the tables above, by its value."""
    from andiron.spark import typed_json

    made = typed_json(records(spark, *GOOD, *BAD), SCHEMA, dead_letters="orders.dead")
    found = made.parsed.collect()
    assert len(found) == len(GOOD) + len(BAD)
    yield {None if row.value is None else bytes(row.value): row for row in found}


@pytest.mark.parametrize("value", GOOD)
def test_a_record_that_fits_is_a_row(parsed: dict[bytes | None, Any], value: str) -> None:
    row = parsed[as_bytes(value)]

    assert row.reason is None
    told = {name: each for name, each in row.typed.asDict(recursive=True).items() if each is not None}
    assert told == {"id": "a", **GOOD[value]}


@pytest.mark.parametrize("value", BAD)
def test_a_record_that_does_not_fit_says_why(
    parsed: dict[bytes | None, Any], value: str | bytes | None
) -> None:
    assert parsed[as_bytes(value)].reason == BAD[value]


def test_rows_know_where_they_are_from(spark: SparkSession) -> None:
    from andiron.spark import typed_json

    made = typed_json(records(spark, '{"id":"a","n":1}', "x"), "id STRING NOT NULL, n INT", dead_letters="d")

    (row,) = made.rows.collect()
    assert row.asDict() == {
        "id": "a", "n": 1, "key": b"k", "topic": "orders", "partition": 3, "offset": 0, "timestamp": NOON
    }  # fmt: skip


def test_fields_that_have_a_record_s_own_names_come_in_a_column(spark: SparkSession) -> None:
    from andiron.spark import typed_json

    made = typed_json(records(spark, '{"offset":7}'), "offset INT", dead_letters="d", into="event")

    (row,) = made.rows.collect()
    assert (row.event.offset, row.offset) == (7, 0)


def test_a_dead_letter_is_the_record_with_its_reason_and_origin(spark: SparkSession) -> None:
    from pyspark.sql import functions as fn

    from andiron.spark import read_dead_letters, typed_json

    trace = fn.array(fn.struct(fn.lit("trace").alias("key"), fn.lit(b"1").alias("value")))
    made = typed_json(
        records(spark, '{"id":"a"}', "{}").withColumn("headers", trace),
        SCHEMA,
        dead_letters="dead",
        reader="me",
    )

    (letter,) = made.bad.collect()
    assert (letter.key, letter.value, letter.topic) == (b"k", b"{}", "dead")
    assert {each.key: bytes(each.value) for each in letter.headers} == {
        "trace": b"1",
        "andiron.reason": b"field 'id' is missing",
        "andiron.topic": b"orders",
        "andiron.partition": b"3",
        "andiron.offset": b"1",
        "andiron.timestamp": b"2026-01-02T12:00:00.000Z",
        "andiron.reader": b"me",
    }
    written = made.bad.withColumn("partition", fn.lit(0)).withColumn("offset", fn.lit(5))
    (back,) = read_dead_letters(written).collect()
    assert (back.reason, back.origin_topic, back.origin_partition, back.origin_offset, back.reader) == (
        "field 'id' is missing", "orders", 3, 1, "me"
    )  # fmt: skip
    assert (back.origin_timestamp, back.offset) == (NOON, 5)


def test_a_value_is_parsed_once(spark: SparkSession) -> None:
    from andiron.spark import typed_json

    made = typed_json(records(spark, "{}"), SCHEMA, dead_letters="dead")

    for frame in (made.rows.where("n > 1"), made.bad):
        plan = frame._jdf.queryExecution().executedPlan().toString()
        assert plan.count('concat({"documents":[') == 1
