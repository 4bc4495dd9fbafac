"""What comes with the installation beside the code: pipelines to run, examples, files for production, documentation.

    a checkout    pipelines/, examples/, deploy/, docs/ at its top
    a wheel       site-packages/andiron/share/pipelines, …: setup.py copies them when it builds one

`andiron files` shows them to people; `andiron pipeline` finds its pipelines there.
"""

from __future__ import annotations

import os

FOLDERS = {
    "pipelines": "Pipelines on Spark, to run and to copy from.",
    "examples": "The three ways to deliver: at most once, at least once, exactly once.",
    "deploy": "For production: settings, units for systemd, an image, alarms for Prometheus.",
    "docs": "The documentation, a page a subject.",
}
LEFT_BEHIND = ("__pycache__", "test_*", "conftest.py")  # by whoever copies them
PACKAGE = os.path.dirname(os.path.abspath(__file__))
SHARE = os.path.join(PACKAGE, "share")
CHECKOUT = os.path.dirname(os.path.dirname(PACKAGE))


def folder(name: str) -> str:
    """Where one of them is."""
    top = SHARE if os.path.isdir(SHARE) else CHECKOUT
    return os.path.join(top, name)
