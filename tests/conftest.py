"""The order in which tests run: those that take long come first, so that no process is left alone with them."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Otherwise each keeps its place."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
