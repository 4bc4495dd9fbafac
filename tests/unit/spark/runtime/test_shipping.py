import subprocess
import sys
import zipfile

import pytest

from andiron.records import native
from andiron.spark.runtime import shipping


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "cache"))


def test_what_executors_import_is_in_the_archive():
    names = set(zipfile.ZipFile(shipping.archive_file()).namelist())
    assert {"andiron/__init__.py", "andiron/spark/connector.py", "pyspark_andiron/__init__.py"} <= names
    assert any(name.startswith("cramjam/") and name.endswith(".so") for name in names)
    assert any(name.startswith("google_crc32c/") and name.endswith(".so") for name in names)
    assert any(name.startswith("andiron/records/_native") for name in names) == (native.walk is not None)
    assert not any("__pycache__" in name or name.startswith(("/", "..")) for name in names)


def test_an_archive_is_made_once_for_the_same_files(monkeypatch):
    made = shipping.archive_file()
    monkeypatch.setattr(shipping, "_write", None)
    assert shipping.archive() == f"{made}#{shipping.PATH_OF_WHAT_IS_SHIPPED}"


def test_another_content_has_another_name(monkeypatch):
    made = shipping.archive_file()
    monkeypatch.setattr(shipping, "DISTRIBUTIONS", ("cramjam",))
    assert shipping.archive_file() != made


def test_the_command_writes_it_where_it_is_told(tmp_path, capsys):
    target = str(tmp_path / "andiron.zip")
    shipping.main([target])
    assert capsys.readouterr().out == f"{target}\n"
    assert zipfile.is_zipfile(target)


def test_what_is_unpacked_can_be_imported_alone(tmp_path):
    with zipfile.ZipFile(shipping.archive_file()) as packed:
        packed.extractall(tmp_path / "unpacked")
    names = "andiron.records.batch, cramjam, google_crc32c"
    program = f"import {names}; print(*(each.__file__ for each in ({names})))"
    # -S: without site-packages, so that nothing but the archive is there to be found
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(tmp_path / "unpacked")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(each.startswith(str(tmp_path)) for each in done.stdout.split())
