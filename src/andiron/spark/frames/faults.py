"""What is wrong with a field of a JSON object, in words; the expressions behind typed.py.

A field is not read as what it is to become, but as what shows whether it is that:

    string               as string; if it looks like a number, true, an array…, the text is asked whether it is one
    timestamp, date      as string, and then cast: Spark would take a number for seconds
    decimal(10,2)        with all the digits there are: Spark would round 12.345
    anything else        as it is; where it does not fit Spark leaves it null and marks the record as corrupt

`read_as` says how a type is read, and `value_of` makes the value from that. `is_suspect` is asked of every record; what
is wrong is told by `fault`, and of records that are corrupt by `lost`.

The law: what is costly stands behind a `when`, never behind an `&`. Spark takes both sides of an `&` for what is
computed anyway, and if a part of them occurs twice, computes it for every row beforehand.

Read next: typed.py.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as fn
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

DIGITS_MAX = 38  # of any decimal
SHOWN_MAX = 60  # characters of a value in a reason
_TIMES = (TimestampType, TimestampNTZType, DateType)
_LOOKS_LIKE_ANOTHER_TYPE = r"(?s)^(?:-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|[\[{].*)$"


def read_as(kind: DataType) -> DataType:
    """The type as which a field is read."""
    match kind:
        case TimestampType() | TimestampNTZType() | DateType():
            return StringType()
        case DecimalType():
            return DecimalType(DIGITS_MAX, DIGITS_MAX - (kind.precision - kind.scale))
        case StructType():
            return StructType([StructField(each.name, read_as(each.dataType)) for each in kind.fields])
        case ArrayType():
            return ArrayType(read_as(kind.elementType))
        case MapType():
            return MapType(kind.keyType, read_as(kind.valueType))
    return kind


def value_of(read: Column, kind: DataType) -> Column:
    """The value of a field, from how it was read; meaningful where there is no fault."""
    if _is_read_as_it_is(kind):
        return read
    match kind:
        case StructType():
            fields = [value_of(read[each.name], each.dataType).alias(each.name) for each in kind.fields]
            return fn.when(read.isNotNull(), fn.struct(*fields))
        case ArrayType():
            return fn.transform(read, lambda each: value_of(each, kind.elementType))
        case MapType():
            return fn.transform_values(read, lambda _, each: value_of(each, kind.valueType))
    return read.try_cast(kind)


def is_suspect(read: Column, field: StructField) -> Column:
    """Whether there may be a fault in a field: true where there is one, and seldom where there is none."""
    found = fn.lit(False) if field.nullable else read.isNull()
    match field.dataType:
        case StructType():
            for each in field.dataType.fields:
                found = found | (read.isNotNull() & is_suspect(read[each.name], each))
        case StringType():
            found = found | read.rlike(_LOOKS_LIKE_ANOTHER_TYPE)
        case TimestampType() | TimestampNTZType() | DateType():
            found = found | _is_wrong(read, field.dataType) | read.rlike(_LOOKS_LIKE_ANOTHER_TYPE)
        case _:
            found = found | _is_wrong(read, field.dataType)
    return found


def fault(read: Column, field: StructField, text: Column, inside: tuple[str, ...] = ()) -> Column:
    """What is wrong with a field of the object at the path `inside`, of a record that Spark could read; else null."""
    path = (*inside, field.name)
    found = _faults_of_value(read, field.dataType, path, text)
    if not field.nullable:
        found.insert(0, fn.when(read.isNull(), fn.lit(f"field {'.'.join(path)!r} is missing")))
    return fn.coalesce(*found) if found else fn.lit(None).cast("string")


def _faults_of_value(read: Column, kind: DataType, path: tuple[str, ...], text: Column) -> list[Column]:
    name = ".".join(path)
    match kind:
        case StructType():
            inner = [fault(read[each.name], each, text, path) for each in kind.fields]
            return [fn.when(read.isNotNull(), fn.coalesce(*inner))]
        case ArrayType() | MapType():
            wrong = _is_wrong_inside(read, kind)
            return [] if wrong is None else [fn.when(wrong, _says_inside(name, kind))]
        case StringType():
            return [_another_type(read, kind, path, text)]
        case TimestampType() | TimestampNTZType() | DateType():
            none = read.isNotNull() & read.try_cast(kind).isNull()
            return [fn.when(none, _says_not_a(name, read, kind)), _another_type(read, kind, path, text)]
        case DecimalType():
            return [fn.when(_is_wrong(read, kind), _says_not_a(name, _plain(read), kind))]
    return []


def _another_type(read: Column, kind: DataType, path: tuple[str, ...], text: Column) -> Column:
    """For what was read as a string and is none in the text. Only what looks so is looked at a second time."""
    there = fn.from_json(text, _as_variant(path))
    for name in path:
        there = there[name]
    is_string = fn.coalesce(fn.schema_of_variant(there), fn.lit("")) == fn.lit("STRING")
    return fn.when(
        read.rlike(_LOOKS_LIKE_ANOTHER_TYPE),
        fn.when(~is_string, _says_not_a(".".join(path), read, kind)),
    )


def lost(read: Column, field: StructField, text: Column, inside: tuple[str, ...] = ()) -> Column:
    """Which value Spark could not read, of a record that it has marked as corrupt; null if it is not in this field."""
    path = (*inside, field.name)
    name, kind = ".".join(path), field.dataType
    raw = fn.get_json_object(text, _json_path(path))
    found = [fn.when(read.isNull(), fn.when(raw.isNotNull(), _says_not_a(name, raw, kind)))]
    match kind:
        case StructType():
            inner = [lost(read[each.name], each, text, path) for each in kind.fields]
            found.append(fn.when(read.isNotNull(), fn.coalesce(*inner)))
        case ArrayType() | MapType():
            found.append(fn.when(_holds_null(read, kind), _says_inside(name, kind)))
    return fn.coalesce(*found)


def _is_wrong(read: Column, kind: DataType) -> Column:
    """Whether a value that Spark could read is none of its type after all."""
    match kind:
        case DecimalType() | TimestampType() | TimestampNTZType() | DateType():
            made = read.try_cast(kind)
            changed = made != read if isinstance(kind, DecimalType) else fn.lit(False)
            return read.isNotNull() & (made.isNull() | changed)
        case StructType():
            wrong = fn.lit(False)
            for each in kind.fields:
                missing = fn.lit(False) if each.nullable else read[each.name].isNull()
                wrong = wrong | missing | _is_wrong(read[each.name], each.dataType)
            return read.isNotNull() & wrong
        case ArrayType() | MapType():
            wrong_inside = _is_wrong_inside(read, kind)
            return fn.lit(False) if wrong_inside is None else wrong_inside
    return fn.lit(False)


def _is_wrong_inside(read: Column, kind: ArrayType | MapType) -> Column | None:
    """Whether an element of an array or map is not of its type; None where that cannot be."""
    values, element, may_be_null = _elements(read, kind)
    if may_be_null and _is_read_as_it_is(element) and not _requires(element):
        return None
    missing = fn.lit(False) if may_be_null else fn.exists(values, lambda each: each.isNull())
    wrong = fn.exists(values, lambda each: _is_wrong(each, element))
    return fn.coalesce(read.isNotNull() & (missing | wrong), fn.lit(False))


def _holds_null(read: Column, kind: ArrayType | MapType) -> Column:
    """Whether a value has a null anywhere inside, which in a corrupt record may be what did not fit."""
    values, element, _ = _elements(read, kind)
    return fn.coalesce(fn.exists(values, lambda each: _is_null_somewhere(each, element)), fn.lit(False))


def _is_null_somewhere(read: Column, kind: DataType) -> Column:
    match kind:
        case StructType():
            found = read.isNull()
            for each in kind.fields:
                found = found | _is_null_somewhere(read[each.name], each.dataType)
            return found
        case ArrayType() | MapType():
            return read.isNull() | _holds_null(read, kind)
    return read.isNull()


def _elements(read: Column, kind: ArrayType | MapType) -> tuple[Column, DataType, bool]:
    if isinstance(kind, ArrayType):
        return read, kind.elementType, kind.containsNull
    return fn.map_values(read), kind.valueType, kind.valueContainsNull


def _requires(kind: DataType) -> bool:
    """Whether something within the type is required."""
    match kind:
        case StructType():
            return any(not each.nullable or _requires(each.dataType) for each in kind.fields)
        case ArrayType():
            return not kind.containsNull or _requires(kind.elementType)
        case MapType():
            return not kind.valueContainsNull or _requires(kind.valueType)
    return False


def _is_read_as_it_is(kind: DataType) -> bool:
    match kind:
        case StructType():
            return all(_is_read_as_it_is(each.dataType) for each in kind.fields)
        case ArrayType():
            return _is_read_as_it_is(kind.elementType)
        case MapType():
            return _is_read_as_it_is(kind.valueType)
    return not isinstance(kind, (DecimalType, *_TIMES))


def _says_not_a(name: str, value: Column, kind: DataType) -> Column:
    wanted = kind.simpleString()
    article = "an" if wanted[0] in "aeiou" else "a"
    cut = fn.concat(fn.left(value, fn.lit(SHOWN_MAX)), fn.lit("…"))
    shown = fn.when(fn.length(value) > SHOWN_MAX, cut).otherwise(value)
    return fn.concat(fn.lit(f'field {name!r}: "'), shown, fn.lit(f'" is not {article} {wanted}'))


def _says_inside(name: str, kind: DataType) -> Column:
    return fn.lit(f"field {name!r}: something in it is not of its type, {kind.simpleString()}")


def _plain(number: Column) -> Column:
    """A decimal without the zeros that its type puts behind it."""
    text = number.cast("string")
    return fn.when(text.contains("."), fn.rtrim(fn.rtrim(text, fn.lit("0")), fn.lit("."))).otherwise(text)


def _as_variant(path: tuple[str, ...]) -> StructType:
    """A schema that has the field at a path as whatever it is."""
    kind: DataType = VariantType()
    for name in reversed(path):
        kind = StructType([StructField(name, kind)])
    assert isinstance(kind, StructType)
    return kind


def _json_path(path: tuple[str, ...]) -> str:
    return "$" + "".join(f"['{each}']" for each in path)
