"""Times as people say them: 2024-05-01, 2024-05-01T12:30, @1714566600000, 5m ago."""

from __future__ import annotations

import re
from datetime import datetime

from andiron.model.errors import AndironError

_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO = re.compile(r"(\d+)\s*(ms|s|m|h|d|w)\s+ago", re.IGNORECASE)


class TimeError(AndironError):
    """Text that is no time."""


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
