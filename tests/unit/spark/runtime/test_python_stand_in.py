"""A stand-in by itself; with a server it is in test_forkserver.py."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from andiron.spark.runtime import python_stand_in


def test_without_a_server_it_becomes_the_python_that_was_wanted(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-IS",
        python_stand_in.__file__,
        str(tmp_path / "nobody"),
        "-m",
        "calendar",
        "2026",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert "January 2026" in done.stdout


def test_it_needs_the_standard_library_alone() -> None:
    tree = ast.parse(Path(python_stand_in.__file__).read_text())
    names = {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}

    assert names == {"json", "os", "socket", "sys"}
