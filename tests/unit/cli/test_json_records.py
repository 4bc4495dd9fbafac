"""What one command prints the other takes, byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andiron.cli.json_records import JsonRecord, decode_record, encode_record, show_bytes
from andiron.cli.lines import LineError
from andiron.model.ids import TopicPartition
from andiron.records.record import Record

P1 = TopicPartition("t", 1)
some_bytes = st.one_of(st.none(), st.binary(max_size=20), st.text(max_size=20).map(str.encode))
names = st.text(st.characters(codec="utf-8"), max_size=10)


@given(some_bytes, some_bytes, st.lists(st.tuples(names, some_bytes), max_size=3), st.integers(-1, 1 << 60))
def test_a_record_survives_the_way_there_and_back(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]], timestamp: int
) -> None:
    line = encode_record(P1, Record(7, timestamp, key, value, tuple(headers)))

    assert "\n" not in line
    assert decode_record(line.encode()) == JsonRecord(key, value, tuple(headers), 1, timestamp)


def test_a_record_is_shown_with_its_place() -> None:
    assert json.loads(encode_record(P1, Record(7, 1000, None, b"v", (("h", b"\xff"),)))) == {
        "topic": "t",
        "partition": 1,
        "offset": 7,
        "timestamp": 1000,
        "key": None,
        "value": "v",
        "headers": [{"key": "h", "value_base64": "/w=="}],
    }


def test_a_value_is_enough() -> None:
    assert decode_record(b'{"value": "v"}') == JsonRecord(None, b"v", (), None, None)


def test_a_value_that_is_no_string_is_written_as_json() -> None:
    assert decode_record(b'{"value": {"a": [1, "\xc3\xa9"]}}').value == '{"a":[1,"é"]}'.encode()
    assert decode_record(b'{"key": 5, "value": true}')[:2] == (b"5", b"true")


def test_headers_may_be_an_object() -> None:
    assert decode_record(b'{"value": null, "headers": {"a": "1", "b": null}}').headers == (
        ("a", b"1"),
        ("b", None),
    )


def test_a_timestamp_may_be_iso() -> None:
    assert decode_record(b'{"value": "", "timestamp": "2024-05-01T12:30:00Z"}').timestamp == 1714566600000


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"x", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"key": "k"}', 'no "value"'),
        (b'{"value_base64": "?"}', "not base64"),
        (b'{"value_base64": 5}', "not base64"),
        (b'{"value": "", "headers": 5}', "headers"),
        (b'{"value": "", "headers": [5]}', "headers"),
        (b'{"value": "", "partition": -1}', "partition"),
        (b'{"value": "", "partition": "0"}', "partition"),
        (b'{"value": "", "timestamp": 1.5}', "timestamp"),
        (b'{"value": "", "timestamp": "soon"}', "timestamp"),
    ],
)
def test_what_describes_no_record_is_refused(line: bytes, complaint: str) -> None:
    with pytest.raises(LineError, match=complaint):
        decode_record(line)


def test_bytes_are_text_where_they_can_be() -> None:
    into: dict[str, object] = {}
    show_bytes(into, "a", "é".encode())
    show_bytes(into, "b", b"\xff")
    show_bytes(into, "c", None)

    assert into == {"a": "é", "b_base64": "/w==", "c": None}
