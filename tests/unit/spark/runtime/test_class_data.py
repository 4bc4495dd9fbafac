"""An archive of classes is used where there is one, and nobody has chosen otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron.spark.runtime.class_data import archive_of, with_archive


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path))


def test_without_an_archive_the_options_are_what_they_were() -> None:
    assert with_archive("-Xmx1g", "/java") == "-Xmx1g"
    assert with_archive("", "/java") == ""


def test_an_archive_is_added_to_the_options() -> None:
    Path(archive_of("/java")).touch()

    assert with_archive("-Xmx1g", "/java").startswith(f"-Xmx1g -XX:SharedArchiveFile={archive_of('/java')}")
    assert with_archive("", "/java").startswith("-XX:SharedArchiveFile")
    assert with_archive("", "/another/java") == ""


@pytest.mark.parametrize("own", ["-XX:SharedArchiveFile=mine.jsa", "-XX:ArchiveClassesAtExit=mine.jsa"])
def test_whoever_has_an_archive_of_his_own_keeps_it(own: str) -> None:
    Path(archive_of("/java")).touch()

    assert with_archive(own, "/java") == own
