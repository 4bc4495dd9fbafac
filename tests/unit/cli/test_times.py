"""Times as people say them."""

from __future__ import annotations

import time

import pytest

from andiron.cli.times import (
    TimeError,
    now_ms,
    parse_duration,
    parse_time,
    show_duration,
    show_time,
)

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("@1714566600000", 1714566600000),
        ("2024-05-01T12:30:00Z", 1714566600000),
        ("2024-05-01T14:30:00.250+02:00", 1714566600250),
        ("5m ago", NOW - 300_000),
        (" 2 H ago", NOW - 7_200_000),
        ("1d ago", NOW - 86_400_000),
        ("99999w ago", 0),
    ],
)
def test_a_time_is_read(text: str, ms: int) -> None:
    assert parse_time(text, NOW) == ms


def test_a_time_without_a_zone_is_local() -> None:
    local = time.mktime((2024, 5, 1, 12, 30, 0, 0, 0, -1))

    assert parse_time("2024-05-01T12:30") == local * 1000


@pytest.mark.parametrize("text", ["yesterday", "5 ago", "@x", "2024-13-01", "", "12:30"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="not a time such as"):
        parse_time(text, NOW)


def test_ago_needs_a_present() -> None:
    with pytest.raises(TimeError):
        parse_time("5m ago")


def test_a_time_is_shown_so_that_it_can_be_read_again() -> None:
    assert parse_time(show_time(NOW + 123)) == NOW + 123


def test_no_time_is_shown_as_nothing_and_an_absurd_one_as_a_number() -> None:
    assert show_time(-1) == ""
    assert show_time(1 << 60) == f"@{1 << 60}"


@pytest.mark.parametrize(
    ("text", "ms"),
    [("30s", 30_000), ("250ms", 250), ("1h30m", 5_400_000), (" 2d 12H ", 216_000_000), ("0s", 0)],
)
def test_a_duration_is_read(text: str, ms: int) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "5", "m", "5m later", "-5m", "PT5M", "1.5h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(TimeError, match="not a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0s"),
        (250, "0.2s"),
        (4_200, "4.2s"),
        (59_000, "59s"),
        (60_000, "1m 0s"),
        (200_000, "3m 20s"),
        (7_500_000, "2h 5m"),
        (190_800_000, "2d 5h"),
    ],
)
def test_a_duration_is_shown_in_the_units_that_matter(ms: int, text: str) -> None:
    assert show_duration(ms) == text


def test_now_is_now() -> None:
    assert abs(now_ms() - time.time() * 1000) < 60_000
