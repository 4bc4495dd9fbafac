"""Directories that are given to a cluster, and those that are another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from andiron.cli.failure import Failure
from andiron.cli.identity import claim, identity_at, new_id, write_whole
from andiron.log.directory import DirectoryError
from andiron.model.errors import Refused


def test_a_directory_that_is_nobodys_is_claimed_once(tmp_path: Path) -> None:
    cluster_id, one, two = new_id(), str(tmp_path / "one"), str(tmp_path / "two")
    claim([one, two, one], cluster_id, 7)
    found = [identity_at(one), identity_at(two)]
    claim([one], cluster_id, 7)

    assert [(each.cluster_id, each.node_id) for each in found if each] == [(cluster_id, 7)] * 2
    assert found[0] != found[1], "each directory has an id of its own"
    assert identity_at(one) == found[0]


def test_a_directory_of_another_cluster_is_refused_before_any_is_written(tmp_path: Path) -> None:
    claim([str(tmp_path / "old")], new_id(), 1)

    with pytest.raises(Failure, match="belongs to cluster"):
        claim([str(tmp_path / "new"), str(tmp_path / "old")], new_id(), 1)
    assert not (tmp_path / "new").exists()


def test_a_directory_that_holds_something_is_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")

    with pytest.raises(DirectoryError, match="it is no node's"):
        claim([str(tmp_path)], new_id(), 1)
    assert identity_at(str(tmp_path)) is None


def test_an_id_is_one_as_kafka_writes_it(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="22 letters"):
        claim([str(tmp_path)], "my-cluster", 1)
    assert identity_at(str(tmp_path)) is None


def test_ids_are_22_letters_and_no_option() -> None:
    ids = [new_id() for _ in range(200)]

    assert {len(each) for each in ids} == {22}
    assert not any(each.startswith("-") for each in ids)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "f"), b"one")
    write_whole(str(tmp_path / "f"), b"two")

    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("f", b"two")]
