"""Somebody at the keyboard, for commands that ask."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def answered(answer: str) -> Iterator[None]:
    """While this lasts, standard input passes for a terminal, if there is something to be typed."""
    with pytest.MonkeyPatch.context() as patch:
        if answer:
            patch.setattr("andiron.cli.confirmation.at_a_terminal", lambda: True)
        yield
