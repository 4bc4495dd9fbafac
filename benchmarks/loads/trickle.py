"""One small record to every partition, again and again at a steady pace, until SIGTERM.

Up to 300 partitions have their turn in one request, so that it costs the broker little; the turns are spread over
the beat, so that whenever a group stands still some of its partitions are due. When each request was answered
is in the diary: where a gap at the consumers is one of the trickle's own, the machine was busy with something else.
"""

from __future__ import annotations

import itertools
import signal
import time

from loads import answer, diary
from peers import frames
from peers.raw import Raw

RECORDS_A_SECOND = 4000
TOGETHER = 300


def beat_s(partitions: int) -> float:
    """From one record of a partition to its next."""
    return partitions / RECORDS_A_SECOND


def load(port: int, topic: str, partitions: int, notes: str) -> dict[str, float]:
    going, sent = True, diary.Writer(notes)

    def stop(*_: object) -> None:
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, stop)
    requests, records, due = _requests(topic, partitions), 0, time.monotonic()
    turns = itertools.cycle(requests)
    with Raw(port) as link:
        while going:
            codes = [code for code, _ in frames.read_produce(link.ask(next(turns))).values()]
            assert not any(codes), f"produce answered {codes}"
            sent.write(diary.SENT)
            records += len(codes)
            due += beat_s(partitions) / len(requests)
            time.sleep(max(0.0, due - time.monotonic()))
    return {"records": records}


def _requests(topic: str, partitions: int) -> list[bytes]:
    batch, turns = frames.batch([bytes(20)], timestamp=int(time.time() * 1000)), -(-partitions // TOGETHER)
    shares = [range(turn, partitions, turns) for turn in range(turns)]
    return [frames.produce(topic, dict.fromkeys(share, batch)) for share in shares]


if __name__ == "__main__":
    answer(load)
