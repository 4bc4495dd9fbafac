"""The order in which tests run: those that take long come first, so that no process is left alone with them. And what
all processes that they start have in common: bytecode."""

from __future__ import annotations

import os
import sys

import pytest

# A suite starts thousands of Pythons: each would compile all of this anew, where the environment asks for no bytecode.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Otherwise each keeps its place."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
