"""That what is started quickly is: classes come out of the archive, and nobody would notice if they did not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from peers import jars, jvm, quick_java


@pytest.mark.java
def test_classes_come_out_of_the_archive_whatever_else_is_on_the_class_path(tmp_path: Path) -> None:
    try:
        libs = jars.server_jars()
        more = [jvm.compiled(libs)]
    except jars.Missing as why:
        pytest.skip(str(why))
    loaded = tmp_path / "loaded"
    tool = ("kafka.tools.StorageTool", "random-uuid")
    command = quick_java.command(libs, *tool, beside=more, options=[f"-Xlog:class+load:file={loaded}"])
    if not any("SharedArchiveFile" in word for word in command):
        pytest.skip("another process is about to make the archive")

    subprocess.run(command, check=True, capture_output=True)

    kafkas = [line for line in loaded.read_text().splitlines() if " kafka." in line or ".kafka." in line]
    shared = [line for line in kafkas if "shared objects file" in line]
    assert len(shared) > 0.9 * len(kafkas) > 0
