"""The cache folder, for archives that can be made again: $ANDIRON_CACHE, else the user's cache folder.

A machine account without a home that can be written to gets a folder of its own below the system's
temporary one. What is kept there is run (a Java, archives of classes), so that folder must be its own: others can make
folders there too, and under any name.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from andiron.model.errors import AndironError


class UntrustedFolder(AndironError):
    """A folder that somebody else could put things into which we would then run."""


def cache_folder() -> str:
    """The folder, made if it was not there."""
    wanted = os.environ.get("ANDIRON_CACHE") or os.path.join(_user_caches(), "andiron")
    try:
        os.makedirs(wanted, exist_ok=True)
        if os.access(wanted, os.W_OK):
            return wanted
    except OSError:
        pass
    instead = os.path.join(tempfile.gettempdir(), f"andiron-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(instead, 0o700)
    _check_ours(instead)
    return instead


def _check_ours(folder: str) -> None:
    """Refuse a cache folder that another user owns, or that is a link: others can write to the temporary folder."""
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise UntrustedFolder(
            f"{folder} is not a folder that only you can write to; remove it, or set ANDIRON_CACHE to one that is"
        )


def _user_caches() -> str:
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
