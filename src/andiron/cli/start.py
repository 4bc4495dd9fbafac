"""Where the process begins: Ctrl-C ends it in silence for as long as there is nobody who could end it in order.

To load the command line takes a tenth of a second, in which an interruption would be a traceback of whatever module was
being loaded. It imports nothing of weight for that reason.
"""

from __future__ import annotations

import signal
from importlib import import_module


def main() -> None:
    """The entry point."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = import_module("andiron.cli.main").main
    signal.signal(signal.SIGINT, before)
    run()
