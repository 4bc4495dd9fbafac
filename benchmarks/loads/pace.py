"""How long does a small produce take while something else goes on?

One record of 100 bytes every millisecond for some seconds, acks=1. The next is due a millisecond after the
last was due, not after it was answered: a stall is felt by all that were due in it.
"""

from __future__ import annotations

import time

from loads import answer, percentiles
from peers import frames
from peers.raw import Raw

EVERY_S = 0.001


def load(port: int, topic: str, seconds: float) -> dict[str, float]:
    request = frames.produce(topic, {0: frames.batch([bytes(100)])})
    times = []
    with Raw(port) as link:
        due = time.perf_counter()
        until = due + seconds
        while due < until:
            ahead = due - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            link.ask(request)
            times.append(time.perf_counter() - due)
            due += EVERY_S
    return {"requests": len(times), **percentiles(times)}


if __name__ == "__main__":
    answer(load)
