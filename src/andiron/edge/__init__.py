"""The real edge: sockets, files, threads and the clock around a node.

    disk.py      Disk on POSIX
    flusher.py   fsync off the loop: Flush → Flushed
    worker.py    slow jobs in a child process: Work → Finished

Nothing below this package knows that any of it exists.
"""
