"""An interruption while the command line is being loaded ends it in silence."""

from __future__ import annotations

import signal
import subprocess
import sys

INTERRUPTED_WHILE = """
import os, signal, sys

class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "andiron.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Loading())
from andiron.cli.start import main
main()
"""


def test_ctrl_c_while_modules_are_loaded_is_no_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_afterwards_commands_are_interrupted_as_ever() -> None:
    handler = "signal.getsignal(signal.SIGINT).__name__"
    usual = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell's & ignores it
    )
    show = f"{usual}; from andiron.cli import main as module; module.main = lambda: print({handler})"
    done = subprocess.run(
        [sys.executable, "-c", f"{show}; from andiron.cli.start import main; main()"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "default_int_handler\n"
