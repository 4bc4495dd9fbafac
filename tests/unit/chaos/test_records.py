"""A record says whose it is and which."""

from __future__ import annotations

from andiron.chaos.records import FoundRecord, SentRecord, parse_value, value_of


def test_what_is_written_can_be_told_apart_when_it_is_read() -> None:
    value = value_of(3, 417, 100)

    assert len(value) == 100
    assert parse_value(value, 9) == FoundRecord(3, 417, 9)


def test_sent_and_found_have_one_name() -> None:
    assert SentRecord(3, 417, 0.0, None, -1).name == FoundRecord(3, 417, 9).name
