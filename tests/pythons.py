"""The unit tests of the core, under every Python from 3.11 on that this machine has.

    python3.11 … python3.14t ──▶ an environment each, in .cache/pythons ──▶ Andiron, built and installed ──▶ pytest

Installed are the core and what tests are run with, so that this is also what somebody has who says `pip install
andiron`: no numpy, no pyarrow, no Spark. What needs those (`BEYOND_THE_CORE`) is left to `make test`. A Python without
the interpreter's lock must still be without it when everything is imported.

    python tests/pythons.py               all that are found
    python tests/pythons.py python3.13    this one
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".cache" / "pythons"
NAMES = [f"python3.{minor}{kind}" for minor in range(11, 16) for kind in ("", "t")]
TOOLS = ("hypothesis", "prometheus-client", "pytest", "pytest-timeout")
BEYOND_THE_CORE = (
    "cli/test_copy.py",
    "cli/test_copy_report.py",
    "cli/test_main.py",
    "cli/test_pipeline.py",
    "cli/test_table.py",
    "client/blocking/test_column_producer.py",
    "client/blocking/test_column_reader.py",
    "client/core/test_row_routes.py",
    "client/test_tables.py",
    "columns",
    "copying",
    "records/test_murmur2.py",
    "records/test_peers.py",
    "spark",
    "wire/test_consumer_protocol.py",
)
LOCK = """
import sys
from andiron.records import _native
from andiron.cli.main import andiron
is_on = getattr(sys, "_is_gil_enabled", lambda: True)()
print(sys.version.split()[0], "with the lock" if is_on else "without the lock")
sys.exit("free-threading" in sys.version and is_on)
"""


def main(wanted: list[str]) -> int:
    """Try each; the exit status says whether one has failed."""
    failed = [name for name in wanted or found() if not passes(name)]
    print(f"failed: {', '.join(failed)}" if failed else "all passed")
    return 1 if failed else 0


def found() -> list[str]:
    """Those that can be started: an entry on the path may be a stub of one that is not chosen."""
    return [
        name
        for name in NAMES
        if shutil.which(name)
        and not subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode
    ]


def passes(name: str) -> bool:
    """Whether the core can be installed and passes its tests under a Python."""
    print(f"== {name}", flush=True)
    folder = PLACE / Path(name).name
    python = str(folder / "bin" / "python")
    left_out = [f"--ignore=tests/unit/{each}" for each in BEYOND_THE_CORE]
    steps = (
        [name, "-m", "venv", "--clear", str(folder)],
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(ROOT), *TOOLS],
        [python, "-P", "-c", LOCK],
        [python, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit", *left_out],
    )
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return all(subprocess.run(step, cwd=ROOT, env=quiet, check=False).returncode == 0 for step in steps)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
