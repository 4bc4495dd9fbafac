"""A topic as typed rows: what fits its schema in one DataFrame, everything else as dead letters in another.

    records ──▶ typed_json(records, schema, dead_letters="orders.dead")
                    ├──▶ .rows   the schema's columns, then key, topic, partition, offset, timestamp
                    └──▶ .bad    key, value, headers with the reason and the origin, topic: for the sink

Every record is in one of the two and in no more than one. Spark's own `from_json` says nothing where a field does
not fit and gives a null; here the record is refused, with the field and its value:

    no value                                     not JSON                       not a JSON object
    field 'id' is missing                        field 'address.zip': "x" is not an int
    field 'amount': "12.345" is not a decimal(10,2)

What a schema says: a field that is NOT NULL is required. Fields that it does not know are passed over. Numbers are
numbers and strings are strings, but a decimal may be written as a string, since that is how one keeps cents
exact. Times are strings of ISO 8601; without a zone they are in the session's. Within arrays and maps a number in
the place of a string is taken as text, and a reason names the array.

It is all expressions of Spark SQL. Three things in them look odd and must stay. The text is parsed inside of an array
with a mark behind it, since Spark takes `{"a": 1} junk` and `{"a": 1}{"a": 2}` for the first object alone. The parsed
column hangs on spark_partition_id(), because the optimizer would otherwise copy the parsing into every filter. And
what looks wrong is read a second time by from_json (faults.py), for which Spark generates no code: the code of all
reasons would be one method, too long for the JVM to compile, and every row more than twice as slow.

Read next: dead_letters.py, faults.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import ArrayType, BooleanType, StringType, StructField, StructType

from andiron.spark.frames.dead_letters import DeadLetters, as_dead_letters
from andiron.spark.frames.faults import fault, is_suspect, lost, read_as, value_of

ORIGIN = ("key", "topic", "partition", "offset", "timestamp")
_RECORD = ("key", "value", "topic", "partition", "offset", "timestamp")
NO_FIELD = "a value is not of the type that the schema has for it"
_DOCUMENTS, _END, _CORRUPT = "documents", "andiron.end", "corrupt"
_OPTIONS = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": _CORRUPT,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}


@dataclass(frozen=True)
class Typed:
    """What `typed_json` returns: the records that fit their schema, and the dead letters."""

    parsed: DataFrame  # every record: as it was, `typed` and `reason`; one of the two is null
    schema: StructType
    dead_letters: DeadLetters
    into: str | None = None

    def __getstate__(self) -> dict[str, object]:
        """What a micro-batch needs in another process, as with Spark Connect: all but the DataFrame."""
        return {name: value for name, value in vars(self).items() if name != "parsed"}

    @property
    def rows(self) -> DataFrame:
        """The records that fit."""
        return self.rows_of(self.parsed)

    @property
    def bad(self) -> DataFrame:
        """The records that do not, as rows of the sink."""
        return self.bad_of(self.parsed)

    def rows_of(self, parsed: DataFrame) -> DataFrame:
        """The records that fit, of a micro-batch of `parsed`."""
        fields = fn.col("typed").alias(self.into) if self.into else fn.col("typed.*")
        return parsed.where(fn.col("reason").isNull()).select(fields, *ORIGIN)

    def bad_of(self, parsed: DataFrame) -> DataFrame:
        """The records that do not, of a micro-batch of `parsed`."""
        return as_dead_letters(parsed.where(fn.col("reason").isNotNull()), self.dead_letters)


def typed_json(
    records: DataFrame,
    schema: StructType | str,
    *,
    dead_letters: str,
    reader: str = "",
    into: str | None = None,
) -> Typed:
    """The values of `records` (as `format("andiron")` has them) as JSON objects of a schema, or of a DDL string.

    With `into`, the fields come as one struct column of that name. `reader` is a name for the dead letters, if
    several readers of the topic send theirs to the same one.
    """
    wanted = _parse(schema)
    _check(records, wanted, into)
    kept = [name for name in (*_RECORD, "headers") if name in records.columns]
    text = fn.col("value").cast("string")
    read = records.select(
        *kept, fn.when(fn.spark_partition_id() >= 0, _documents(text, wanted)).alias("read")
    )
    document = fn.get(fn.col("read")[_DOCUMENTS], fn.lit(0))
    parsed = read.select(
        *kept,
        fn.struct(
            *[value_of(document[each.name], each.dataType).alias(each.name) for each in wanted.fields]
        ).alias("typed"),
        _reason(text, document, wanted).alias("reason"),
    )
    return Typed(parsed, wanted, DeadLetters(dead_letters, reader), into)


def _parse(schema: StructType | str) -> StructType:
    parsed = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    if not isinstance(parsed, StructType):
        raise ValueError(
            f"{schema!r} is not a schema of fields; expected e.g. 'id STRING NOT NULL, amount DECIMAL(10,2)'"
        )
    return parsed


def _check(records: DataFrame, wanted: StructType, into: str | None) -> None:
    missing = [name for name in _RECORD if name not in records.columns]
    if missing:
        raise ValueError(
            f"records of a topic have the columns {', '.join(_RECORD)}; {missing[0]!r} is not there"
        )
    if not wanted.fields:
        raise ValueError("the schema has no fields")
    clash = [name for name in ([into] if into else wanted.names) if name in ORIGIN]
    if clash:
        raise ValueError(
            f"{clash[0]!r} is the name of a record's own column; take the fields into one column, "
            'for instance by into="order"'
        )


def _documents(text: Column, wanted: StructType) -> Column:
    """The text as JSON: an array of the one object that should be there, and a mark that was read after it."""
    fields = [StructField(each.name, read_as(each.dataType)) for each in wanted.fields]
    wrapped = StructType(
        [
            StructField(_DOCUMENTS, ArrayType(StructType(fields))),
            StructField(_END, BooleanType()),
            StructField(_CORRUPT, StringType()),
        ]
    )
    whole = fn.concat(fn.lit(f'{{"{_DOCUMENTS}":['), text, fn.lit(f'],"{_END}":true}}'))
    return fn.from_json(whole, wrapped, _OPTIONS)


def _reason(text: Column, document: Column, wanted: StructType) -> Column:
    """Why a record is refused; null where it is not."""
    read = fn.col("read")
    suspect = fn.col("value").isNull() | ~fn.is_valid_utf8(text) | (fn.size(read[_DOCUMENTS]) != 1)
    suspect = suspect | read[_END].isNull() | document.isNull() | read[_CORRUPT].isNotNull()
    for each in wanted.fields:
        suspect = suspect | is_suspect(document[each.name], each)
    return fn.when(suspect, _fault(text, document, wanted))


def _fault(text: Column, document: Column, wanted: StructType) -> Column:
    """What is wrong with a record; null if nothing is."""
    read = fn.col("read")
    documents, is_unread = read[_DOCUMENTS], read[_END].isNull()
    faults = [fault(document[each.name], each, text) for each in wanted.fields]
    losses = [lost(document[each.name], each, text) for each in wanted.fields]
    return (
        fn.when(fn.col("value").isNull(), "no value")
        .when(~fn.is_valid_utf8(text), "not UTF-8")
        .when(fn.size(documents) == 0, "an empty value")
        .when(fn.size(documents) > 1, "more than one JSON document")
        .when(is_unread | document.isNull(), _not_a_document(text, is_unread))
        .when(read[_CORRUPT].isNotNull(), fn.coalesce(*losses, fn.lit(NO_FIELD)))
        .otherwise(fn.coalesce(*faults))
    )


def _not_a_document(text: Column, is_unread: Column) -> Column:
    is_json = fn.try_parse_json(text).isNotNull()  # or begins with what is
    return (
        fn.when(~is_json, "not JSON")
        .when(is_unread | fn.ltrim(text).startswith("{"), "something follows the JSON document")
        .otherwise("not a JSON object")
    )
