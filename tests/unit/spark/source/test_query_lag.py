"""How far a query is behind, by its progress."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from andiron.spark.source.query_lag import offsets_behind


def progress(end: Any, latest: Any) -> Any:
    return SimpleNamespace(endOffset=json.dumps(end), latestOffset=json.dumps(latest))


def test_the_partitions_that_were_not_read_to_their_ends_are_behind() -> None:
    end = {"t": {"0": 10, "1": 5}, "t@id": {}}

    assert offsets_behind(progress(end, {"t": {"0": 12, "1": 5, "2": 7}})) == {
        "minOffsetsBehindLatest": 0,
        "maxOffsetsBehindLatest": 7,
        "avgOffsetsBehindLatest": 3.0,
    }


@pytest.mark.parametrize(("end", "latest"), [(None, {"t": {"0": 1}}), ({"t": {"0": 1}}, None), ({}, {})])
def test_what_the_progress_does_not_tell_is_not_known(end: Any, latest: Any) -> None:
    assert offsets_behind(progress(end, latest)) == {}
