"""Records as JSON, one a line: what `consume --json` prints and `produce --json` takes.

    {"topic": "orders", "partition": 0, "offset": 7, "timestamp": 1700000000000,
     "key": "customer-42", "value": "a cup of tea", "headers": [{"key": "trace", "value": "1f"}]}

Bytes that are UTF-8 stand as text. Those that are not stand in base64 under a name that says so,
`value_base64` in place of `value`; so what one command prints the other takes, byte for byte. null is
null: a tombstone, or a record without a key.

Written by hand, a line may have less: {"value": …} is enough, a value that is no string is written as
JSON, headers may be {"name": "value"}, and a timestamp may be ISO 8601.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode, b64encode
from typing import Any, NamedTuple

from andiron.cli.lines import LineError
from andiron.cli.times import TimeError, parse_time
from andiron.model.ids import TopicPartition
from andiron.records.record import Header, Record


class JsonRecord(NamedTuple):
    """A record as it was described."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    partition: int | None
    timestamp: int | None


def encode_record(partition: TopicPartition, record: Record) -> str:
    """A record as one line."""
    shown: dict[str, Any] = {
        "topic": partition.topic,
        "partition": partition.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }
    show_bytes(shown, "key", record.key)
    show_bytes(shown, "value", record.value)
    shown["headers"] = []
    for name, value in record.headers:
        header: dict[str, Any] = {"key": name}
        show_bytes(header, "value", value)
        shown["headers"].append(header)
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


def decode_record(line: bytes) -> JsonRecord:
    """What a line describes; names that mean nothing here are passed over."""
    try:
        told = json.loads(line)
    except ValueError as error:
        raise LineError(f"not JSON: {error}") from error
    if not isinstance(told, dict):
        raise LineError(f'not a JSON object such as {{"value": "…"}}: {line[:40].decode(errors="replace")}')
    if "value" not in told and "value_base64" not in told:
        raise LineError('there is no "value"; a tombstone is written as "value": null')
    return JsonRecord(
        _bytes(told, "key"),
        _bytes(told, "value"),
        _headers(told.get("headers")),
        _partition(told),
        _timestamp(told),
    )


def show_bytes(into: dict[str, Any], name: str, value: bytes | None) -> None:
    """Put bytes into what becomes JSON: as text, or in base64 under a name that says so."""
    if value is None:
        into[name] = None
        return
    try:
        into[name] = value.decode("utf-8")
    except UnicodeDecodeError:
        into[f"{name}_base64"] = b64encode(value).decode()


def _bytes(told: dict[str, Any], name: str) -> bytes | None:
    if f"{name}_base64" in told:
        try:
            return b64decode(told[f"{name}_base64"], validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise LineError(f'"{name}_base64" is not base64: {error}') from error
    value = told.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _headers(told: Any) -> tuple[Header, ...]:
    if told is None:
        return ()
    if isinstance(told, dict):
        return tuple((name, _bytes({"value": value}, "value")) for name, value in told.items())
    if not isinstance(told, list) or not all(isinstance(each, dict) and "key" in each for each in told):
        raise LineError('"headers" is neither {"name": "value"} nor [{"key": "name", "value": "value"}]')
    return tuple((str(each["key"]), _bytes(each, "value")) for each in told)


def _partition(told: dict[str, Any]) -> int | None:
    partition = told.get("partition")
    if partition is not None and (not isinstance(partition, int) or partition < 0):
        raise LineError(f'"partition" is not a whole number: {partition!r}')
    return partition


def _timestamp(told: dict[str, Any]) -> int | None:
    timestamp = told.get("timestamp")
    if isinstance(timestamp, str):
        try:
            return parse_time(timestamp)
        except TimeError as error:
            raise LineError(f'"timestamp": {error}') from error
    if timestamp is not None and not isinstance(timestamp, int):
        raise LineError(f'"timestamp" is neither milliseconds nor ISO 8601: {timestamp!r}')
    return timestamp
