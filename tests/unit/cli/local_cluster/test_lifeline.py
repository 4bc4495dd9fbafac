"""A node ends with the process that started it."""

from __future__ import annotations

import os
import threading

from andiron.cli.local_cluster.lifeline import end_with


def test_it_ends_when_nobody_holds_the_pipe_and_again_if_that_is_not_enough() -> None:
    reading, writing = os.pipe()
    ends = threading.Semaphore(0)

    def again() -> None:
        ends.release()

    end_with(reading, again, grace_s=0.01)

    os.write(writing, b"not an end")
    assert not ends.acquire(timeout=0.05)
    os.close(writing)
    assert ends.acquire(timeout=10)
    assert ends.acquire(timeout=10)
    os.close(reading)


def test_a_pipe_that_is_not_there_is_at_its_end() -> None:
    ended = threading.Event()
    end_with(10_000_000, ended.set, grace_s=0)

    assert ended.wait(10)
