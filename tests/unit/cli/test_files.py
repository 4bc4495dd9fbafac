"""`andiron files`: shown, and copied where nothing is in the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from andiron.cli.main import andiron


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(andiron, ["files", *arguments])


def test_each_folder_is_listed_with_its_place() -> None:
    listed = json.loads(call("list", "--json").output)

    assert [each["name"] for each in listed] == ["pipelines", "examples", "deploy", "docs"]
    assert all(Path(each["folder"]).is_dir() for each in listed)
    assert "Prometheus" in call("list").output


def test_a_copy_has_what_a_user_needs_and_none_of_our_tests(here: Path) -> None:
    assert call("copy", "pipelines").output == "pipelines is copied to pipelines\n"

    assert (here / "pipelines/orders/job.py").is_file()
    assert not [*here.rglob("test_*"), *here.rglob("conftest.py"), *here.rglob("__pycache__")]


def test_nothing_of_the_users_is_overwritten(here: Path) -> None:
    (here / "deploy").mkdir()

    refused = call("copy", "deploy")

    assert refused.exit_code == 1
    assert (
        refused.output
        == "andiron: deploy is there already; name another folder: andiron files copy deploy DIR\n"
    )
    assert call("copy", "deploy", "mine", "--json").exit_code == 0
