import os

from andiron.spark.runtime.cache import cache_folder


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "a/b"))
    assert cache_folder() == str(tmp_path / "a/b")
    assert os.path.isdir(tmp_path / "a/b")


def test_else_it_is_among_the_users_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("ANDIRON_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == str(tmp_path / "andiron")


def test_where_that_cannot_be_made_it_is_temporary(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ANDIRON_CACHE", str(tmp_path / "file/cache"))
    assert os.path.isdir(cache_folder())
    assert not cache_folder().startswith(str(tmp_path / "file"))
