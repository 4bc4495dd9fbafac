"""How long from a producer's send until a waiting consumer holds the record?

One record of 100 bytes at a time, acks=1, while a fetch waits at the end of the log: the time from the send
to the arrival of the fetch's answer. Then the fetch is sent again and the next record follows a little later,
so that the fetch is waiting by then.
"""

from __future__ import annotations

import time

from loads import answer, percentiles
from peers import frames
from peers.raw import Raw

WARM_UP = 500


def load(port: int, topic: str, samples: int, pause_s: float = 0.0005) -> dict[str, float]:
    produce = frames.produce(topic, {0: frames.batch([bytes(100)])})
    times = []
    with Raw(port) as writer, Raw(port) as reader:
        offset = frames.read_produce(writer.ask(produce))[0][1] + 1
        for _ in range(samples + WARM_UP):
            reader.send(frames.fetch(topic, {0: offset}, wait_ms=10_000))
            time.sleep(pause_s)
            started = time.perf_counter()
            writer.send(produce)
            found = reader.receive()
            times.append(time.perf_counter() - started)
            writer.receive()
            assert len(found) > 100, "the fetch came back empty"
            offset += 1
    return percentiles(times[WARM_UP:])


if __name__ == "__main__":
    answer(load)
