"""A node beside a pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron.model.errors import ProtocolError
from andiron.spark.pipeline.embedded_node import cluster_id, embedded_node
from andiron.spark.pipeline.errors import PipelineError
from peers.ports import free_port


def test_a_node_is_started_where_none_answers_and_is_gone_afterwards(tmp_path: Path) -> None:
    bootstrap = f"localhost:{free_port()}"
    data, log = str(tmp_path / "data"), str(tmp_path / "run" / "node.log")

    with embedded_node(bootstrap, data, log) as started:
        assert started
        named = cluster_id(bootstrap)
        with embedded_node(bootstrap, data, log) as again:
            assert not again
        assert cluster_id(bootstrap) == named
    with pytest.raises(ProtocolError):
        cluster_id(bootstrap)


def test_a_node_is_not_started_on_another_machine(tmp_path: Path) -> None:
    with (
        pytest.raises(PipelineError, match="is not this machine"),
        embedded_node("192.0.2.1.invalid:9092", str(tmp_path), str(tmp_path / "node.log")),
    ):
        pass


def test_a_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("not a folder")

    with (
        pytest.raises(PipelineError, match=r"the node ended as it was started: .*data"),
        embedded_node(f"localhost:{free_port()}", str(data), str(tmp_path / "node.log")),
    ):
        pass
