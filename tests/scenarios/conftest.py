"""`pytest tests/scenarios --rewrite` writes into the stories what their commands print now."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write down what the stories' commands print now")
