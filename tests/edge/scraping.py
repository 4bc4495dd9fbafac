"""A scrape over HTTP, as Prometheus makes it."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable

from unit.edge.metrics.scraped import parsed


def get(port: int, path: str = "/metrics") -> tuple[int, str]:
    """Status and body."""
    try:
        with urllib.request.urlopen(f"http://localhost:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def scrape(port: int) -> dict[str, float]:
    """The samples by name and labels."""
    status, text = get(port)
    assert status == 200
    return parsed(text)


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Ask again and again until something holds."""
    last = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < last, "it does not come to that"
        time.sleep(0.2)
