"""Marks that tests of several folders share."""

from __future__ import annotations

import pytest

from peers import clients


def each_client(*calls: str) -> pytest.MarkDecorator:
    """Run a test once for every client which offers these calls; the test takes it as `client`."""
    return pytest.mark.parametrize("client", clients.those_that(*calls), indirect=True)
