"""The list of what both connectors do alike, in every kind of session that people use them in.

The list is test_parity*.py and what one DataFrame gives again and again; by itself it runs in our session.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from peers.spark_kinds import KIND, OTHERS

pytest.importorskip("pyspark", reason="pyspark is not installed")

HERE = Path(__file__).parent
THE_LIST = (
    "test_parity.py",
    "test_parity_changes.py",
    "test_parity_writes.py",
    "test_source_batch.py",
    "test_threads.py",
    "test_tables.py::test_a_table_has_every_record_once_and_the_rest_are_dead_letters",
)
TIMEOUT_S, ENDS_S = 2400, 60  # ten minutes on a busy machine


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT_S + 2 * ENDS_S)
@pytest.mark.parametrize("kind", OTHERS)
def test_both_connectors_do_the_same_in_every_kind_of_session(kind: str) -> None:
    if kind.endswith("connect"):
        for module in ("grpc", "grpc_status", "google.rpc"):
            pytest.importorskip(module, reason=f"{module} is not installed (pip install 'pyspark[connect]')")
    run = [sys.executable, "-m", "pytest", "-q", "-n", "0", *(str(HERE / each) for each in THE_LIST)]

    with subprocess.Popen(
        run, env={**os.environ, KIND: kind}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as playing:
        try:
            told, _ = playing.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            playing.send_signal(signal.SIGINT)  # and not kill: it ends the servers that it has started
            told, _ = playing.communicate(timeout=ENDS_S)

    assert playing.returncode == 0, told[-8000:]
    assert " passed" in told or "%]" in told, told[-2000:]
