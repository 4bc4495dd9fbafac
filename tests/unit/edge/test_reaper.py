from __future__ import annotations

import os

from andiron.edge import reaper
from andiron.edge.reaper import Reaper


def test_names_are_gone_at_once_and_blocks_once_finished(tmp_path):
    (tmp_path / "topic-0").mkdir()
    (tmp_path / "topic-0" / "large").write_bytes(bytes(2 << 20))
    (tmp_path / "topic-0" / "small").write_bytes(b"x")
    before = len(os.listdir("/dev/fd"))
    it = Reaper()

    it.remove(f"{tmp_path}/topic-0")

    assert list(tmp_path.iterdir()) == []
    it.finish()
    assert len(os.listdir("/dev/fd")) == before


def test_nothing_to_remove_is_fine(tmp_path):
    it = Reaper()
    it.remove(f"{tmp_path}/none")
    it.finish()


def test_a_link_is_removed_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "kept")

    Reaper().remove(f"{tmp_path}/link")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
    assert (tmp_path / "kept" / "a").read_bytes() == b"x"


def test_descriptors_waiting_to_be_closed_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(reaper, "_WAITING_MAX", 0)
    (tmp_path / "large").write_bytes(bytes(2 << 20))
    it = Reaper()

    it.remove(f"{tmp_path}/large")

    assert list(tmp_path.iterdir()) == []
    it.finish()
