"""`andiron log mend`: what it shows, what it does, and that a node starts afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.broker.metadata.metadata_damage import DamagedMetadata
from andiron.cli.main import andiron
from andiron.edge.disk import PosixDisk
from worlds.node import SmallNode


def mend(*arguments: str | Path) -> Any:
    return CliRunner().invoke(andiron, ["log", "mend", *map(str, arguments)])


def node_at(data: Path) -> Any:
    return SmallNode(disk=PosixDisk(), log_dirs=str(data))


@pytest.fixture
def harmed(tmp_path: Path) -> Path:
    """The data of a node that has stopped, its metadata damaged behind the first topic."""
    data = tmp_path / "data"
    data.mkdir()
    node = node_at(data)
    sizes = [0]
    for name in ("first", "second", "third"):
        node.create(name)
        sizes.append(segment(data).stat().st_size)
    assert node.node.stop(node.now)
    node.disk.close_all()
    content = bytearray(segment(data).read_bytes())
    content[sizes[1] + 70] ^= 1
    segment(data).write_bytes(content)
    return data


def segment(data: Path) -> Path:
    return data / "__cluster_metadata-0" / f"{0:020d}.log"


def test_what_would_be_lost_is_shown_and_nothing_done(harmed: Path) -> None:
    before = segment(harmed).read_bytes()

    shown = mend(harmed)

    assert shown.exit_code == 0
    assert f"{segment(harmed)} is damaged at byte" in shown.stdout
    assert "lost topics: third" in shown.stdout
    assert "Nothing was changed" in shown.stdout
    told = json.loads(mend(harmed, "--json").stdout)
    assert (told["mended"], told["lost_topics"], told["damage"]["path"]) == (
        False,
        ["third"],
        str(segment(harmed)),
    )
    assert segment(harmed).read_bytes() == before


def test_a_node_starts_with_what_was_kept_and_the_rest_is_still_there(harmed: Path) -> None:
    before = segment(harmed).read_bytes()
    with pytest.raises(DamagedMetadata):
        node_at(harmed)

    assert mend(harmed / "__cluster_metadata-0", "--execute").exit_code == 0

    node = node_at(harmed)
    assert list(node.node.broker.image.topics) == ["first"]
    node.disk.close_all()
    assert Path(f"{segment(harmed)}.damaged").read_bytes() == before
    assert list(harmed.glob("third-0.*-stray")), "records are set aside, not removed"
    assert "nothing to mend" in mend(harmed).stdout


def test_a_log_that_holds_is_left_alone(harmed: Path) -> None:
    told = json.loads(mend(harmed, "--execute", "--json").stdout)
    assert (told["mended"], [Path(each).suffix for each in told["aside"]]) == (True, [".damaged"])
    before = segment(harmed).read_bytes()

    assert "all of it holds" in mend(harmed, "--execute").stdout
    assert json.loads(mend(harmed, "--execute", "--json").stdout)["damage"] is None
    assert segment(harmed).read_bytes() == before


def test_a_node_that_runs_is_not_meddled_with(harmed: Path) -> None:
    disk = PosixDisk()
    disk.lock(str(harmed))

    refused = mend(harmed, "--execute")
    disk.close_all()

    assert refused.exit_code == 1
    assert (
        refused.stderr
        == f"andiron: {harmed} is in use by another process; stop that one, or choose another folder\n"
    )


def test_only_metadata_is_mended(harmed: Path) -> None:
    refused = mend(harmed / "first-0")

    assert refused.exit_code == 1
    assert "has no __cluster_metadata-0" in refused.stderr
