"""Stands where Spark believes to have started a Python: it has that forked (forkserver.py), and waits for its end.

    python -IS python_stand_in.py <socket> -m pyspark.daemon …

It is run as a file, without packages and site, so that it is there in some ten milliseconds. Who ends it ends the
fork. For anything but `-m`, and where no server answers, it becomes the Python that was wanted.
"""

from __future__ import annotations

import json
import os
import socket
import sys

LENGTH_BYTES = 4  # of the length of what is asked, and of an exit status
STREAMS = [0, 1, 2]  # standard input, output and error, which go to the fork


def main(address: str, arguments: list[str]) -> int:
    """Have a Python forked with these arguments; return its exit status when it has ended."""
    if arguments[:1] != ["-m"]:
        os.execv(sys.executable, [sys.executable, *arguments])
    wanted = {"arguments": arguments, "environ": dict(os.environ), "folder": os.getcwd()}
    text = json.dumps(wanted).encode()
    with socket.socket(socket.AF_UNIX) as link:
        try:
            link.connect(address)
            socket.send_fds(link, [len(text).to_bytes(LENGTH_BYTES, "big")], STREAMS)
            link.sendall(text)
            is_taken = link.recv(1)
        except OSError:
            is_taken = b""
        if not is_taken:
            os.execv(sys.executable, [sys.executable, *arguments])
        for stream in STREAMS:
            os.close(stream)  # so that who reads what the fork writes hears that it has ended
        status = link.recv(LENGTH_BYTES)
    return int.from_bytes(status, "big", signed=True) if status else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
