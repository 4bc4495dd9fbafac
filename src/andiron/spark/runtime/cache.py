"""Where things that can be made again are kept: $ANDIRON_CACHE, else the user's cache folder.

A machine account without a home that can be written to gets a folder of its own below the system's
temporary one.
"""

from __future__ import annotations

import os
import tempfile


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
    os.makedirs(instead, mode=0o700, exist_ok=True)
    return instead


def _user_caches() -> str:
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
