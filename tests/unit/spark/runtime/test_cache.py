import os
import tempfile

import pytest

from andiron.spark.runtime.cache import UntrustedFolder, cache_folder


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "a/b"))
    assert cache_folder() == str(tmp_path / "a/b")
    assert os.path.isdir(tmp_path / "a/b")


def test_else_it_is_among_the_users_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("ANDIRON_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == str(tmp_path / "andiron")


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """Where it goes if there is no place of the user's; below a temporary folder of the test's own."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "file/cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"andiron-{os.getuid()}"


def test_where_that_cannot_be_made_it_is_temporary_and_ours_alone(temporary):
    assert cache_folder() == cache_folder() == str(temporary)
    assert temporary.stat().st_mode & 0o777 == 0o700


def test_a_temporary_folder_that_others_can_write_to_is_not_trusted(temporary):
    temporary.mkdir()
    temporary.chmod(0o777)
    with pytest.raises(UntrustedFolder, match="only you can write to"):
        cache_folder()


def test_a_temporary_folder_that_is_a_link_is_not_trusted(temporary, tmp_path):
    (tmp_path / "trap").mkdir()
    temporary.symlink_to(tmp_path / "trap")
    with pytest.raises(UntrustedFolder):
        cache_folder()


def test_a_temporary_folder_of_another_user_is_not_trusted(temporary, monkeypatch):
    temporary.mkdir(0o700)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    temporary.rename(temporary.with_name(f"andiron-{owner + 1}"))
    with pytest.raises(UntrustedFolder):
        cache_folder()
