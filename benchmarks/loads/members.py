"""Some members of a consumer group, each a librdkafka consumer in a thread, that write down what they see.

They run until SIGTERM, upon which each leaves the group properly. What they saw, and what was assigned to
them and taken away, is in their diaries.
"""

from __future__ import annotations

import signal
import threading

from confluent_kafka import Consumer, Message, TopicPartition

from loads import answer, diary

PATIENCE_S = 0.1


def load(port: int, topic: str, settings: dict[str, str], diaries: list[str]) -> dict[str, float]:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    common = {"bootstrap.servers": f"127.0.0.1:{port}", "auto.offset.reset": "earliest", **settings}
    members = [threading.Thread(target=consume, args=(common, topic, path, stop)) for path in diaries]
    for member in members:
        member.start()
    for member in members:
        member.join()
    return {"members": len(members)}


def consume(settings: dict[str, str], topic: str, path: str, stop: threading.Event) -> None:
    """One member, from its joining to its leaving."""
    consumer, notes = Consumer(settings), diary.Writer(path)

    def assigned(_: Consumer, places: list[TopicPartition]) -> None:
        notes.write(diary.ASSIGNED, ((place.partition, 0) for place in places))

    def revoked(_: Consumer, places: list[TopicPartition]) -> None:
        notes.write(diary.REVOKED, ((place.partition, 0) for place in places))

    consumer.subscribe([topic], on_assign=assigned, on_revoke=revoked)
    notes.write(diary.BEGAN)
    while not stop.is_set():
        first = consumer.poll(PATIENCE_S)
        if first is not None:
            # The first is waited for, the rest taken as it is: a wait for more would blur the times.
            found = [first, *consumer.consume(1000, timeout=0)]
            notes.write(diary.SAW, places(found))
    consumer.close()


def places(found: list[Message]) -> list[tuple[int, int]]:
    """Where the records stood; what is no record but a complaint is left out."""
    return [(each.partition() or 0, each.offset() or 0) for each in found if not each.error()]


if __name__ == "__main__":
    answer(load)
