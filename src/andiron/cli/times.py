"""Times and durations as people say them: 2024-05-01, 2024-05-01T12:30, @1714566600000, 5m ago; 1h30m."""

from __future__ import annotations

import re
import time
from datetime import datetime

from andiron.model.errors import AndironError

_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r"(\d+)\s*(ms|s|m|h|d|w)\s*", re.IGNORECASE)
_AGO = re.compile(r"(\d+)\s*(ms|s|m|h|d|w)\s+ago", re.IGNORECASE)


class TimeError(AndironError):
    """Text that is no time, or no duration."""


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def parse_time(text: str, now_ms: int | None = None) -> int:
    """Milliseconds since 1970; a time without a zone is local, and `… ago` counts back from `now_ms`."""
    text = text.strip()
    if text.startswith("@") and text[1:].isdecimal():
        return int(text[1:])
    ago = _AGO.fullmatch(text)
    if ago and now_ms is not None:
        return max(0, now_ms - int(ago[1]) * _UNITS_MS[ago[2].lower()])
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise TimeError(
            f"{text!r} is not a time such as 2024-05-01T12:30, @1714566600000 or 5m ago"
        ) from None


def show_time(timestamp_ms: int) -> str:
    """Local time in ISO 8601, to the millisecond; empty for a record without a time."""
    if timestamp_ms < 0:
        return ""
    try:
        return datetime.fromtimestamp(timestamp_ms / 1000).astimezone().isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"@{timestamp_ms}"  # a year that the calendar does not have


def parse_duration(text: str) -> int:
    """Milliseconds: 30s, 1h30m, 2d 12h."""
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text.strip()):
        raise TimeError(f"{text!r} is not a duration such as 30s, 1h30m or 2d; ms, s, m, h, d, w")
    return sum(int(count) * _UNITS_MS[unit.lower()] for count, unit in parts)


def show_duration(ms: int) -> str:
    """To the tenth of a second below a minute, then in the two largest units: 4.2s, 3m 20s, 2d 5h."""
    if ms < _UNITS_MS["m"]:
        return f"{ms // 1000}s" if ms % 1000 == 0 else f"{ms / 1000:.1f}s"
    for large, small in (("d", "h"), ("h", "m"), ("m", "s")):
        if ms >= _UNITS_MS[large]:
            count, rest = divmod(ms, _UNITS_MS[large])
            return f"{count}{large} {rest // _UNITS_MS[small]}{small}"
    raise AssertionError("a minute is at least a minute")
