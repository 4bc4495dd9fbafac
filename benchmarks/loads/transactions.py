"""How many transactions a second, by size? Records of 100 bytes, one transaction after the other.

    begin ─▶ produce (records, spread over the partitions) ─▶ [offsets of a group] ─▶ commit

librdkafka adds partitions to a transaction by requests of their own (the classic way); the Java client, run
from java/Transactions.java, leaves that to the broker (transaction version 2) where the broker offers it.
What was written is counted in the end: all of it, a marker for each transaction in each partition it touched.
"""

from __future__ import annotations

import json
import subprocess
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from loads import answer
from peers import jars

JAVA = Path(__file__).with_name("java") / "Transactions.java"
VALUE = bytes(100)
PATIENCE_S = 30.0


def librdkafka(
    port: int, topic: str, records: int, partitions: int, offsets: bool, seconds: float
) -> dict[str, float]:
    common = {"bootstrap.servers": f"127.0.0.1:{port}"}
    producer = Producer(
        {**common, "transactional.id": f"{topic}-writer", "queue.buffering.max.messages": 2000}
    )
    consumer = Consumer({**common, "group.id": f"{topic}-group", "isolation.level": "read_committed"})
    member, places = consumer.consumer_group_metadata(), [number % partitions for number in range(records)]
    producer.init_transactions(60)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        producer.begin_transaction()
        for partition in places:
            producer.produce(topic, VALUE, partition=partition)
        if offsets:
            producer.send_offsets_to_transaction([TopicPartition(topic, 0, done)], member)
        producer.commit_transaction()
        done += 1
    elapsed = time.perf_counter() - started
    _all_there(consumer, topic, places, done)
    return {"transactions": done, "of_all": done, "seconds": elapsed}


def _all_there(consumer: Consumer, topic: str, places: list[int], transactions: int) -> None:
    """Records and markers are in each partition, and none is open; the last markers may take a moment."""
    until = time.monotonic() + PATIENCE_S
    for partition, records in Counter(places).items():
        wanted, end = transactions * (records + 1), -1
        while end != wanted and time.monotonic() < until:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE_S)
        assert end == wanted, f"{topic}-{partition} ends at {end} and not at {wanted}"
    consumer.close()


def java(
    port: int, topic: str, records: int, partitions: int, offsets: bool, seconds: float
) -> dict[str, float]:
    libs = jars.client_jars()
    # The quick compiler alone: a few seconds are too short for the thorough one to pay, and it takes a core.
    command = [jars.java(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dlog4j2.level=ERROR"]
    command += ["-cp", f"{_compiled(libs)}:{libs.classpath}", JAVA.stem, f"127.0.0.1:{port}", topic]
    command += [str(records), str(partitions), str(offsets).lower(), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, f"the Java client failed: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _compiled(libs: jars.Jars) -> Path:
    """The folder of the compiled program; made anew when the source has changed."""
    folder = jars.CACHE / f"bench-{zlib.crc32(JAVA.read_bytes()):08x}"
    if not folder.exists():
        compiler = Path(jars.java()).resolve().with_name("javac")
        subprocess.run([compiler, "-d", folder, "-cp", libs.classpath, JAVA], check=True)
    return folder


def load(client: str, **arguments: Any) -> dict[str, float]:
    return java(**arguments) if client == "java" else librdkafka(**arguments)


if __name__ == "__main__":
    answer(load)
