"""Topics of every kind to copy, and what another client finds on both sides: records, and where groups go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PATIENCE_S = 60.0
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PLAIN, TRANSACTED, TRIMMED, COMPACTED = "plain", "transacted", "trimmed", "compacted"
TOPICS = (PLAIN, TRANSACTED, TRIMMED, COMPACTED)
GROUPS = {"early": 0, "amid": 17, "gap": 33, "late": 60}  # and the offset that each has committed
LONG_AGO = 1_600_000_000_000
FOREVER = {"retention.ms": "-1"}
AT_ONCE = {"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.001"}
READY = {"transaction.state.log.num.partitions": "1", "offsets.topic.num.partitions": "1",
         "log.cleaner.backoff.ms": "50"}  # fmt: skip


class Seen(NamedTuple):
    """A record as a client shows it, beside its offset."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp: tuple[int, int]


def producer(bootstrap: str, **more: Any) -> Producer:
    return Producer({"bootstrap.servers": bootstrap, "log_level": 0, "linger.ms": 0, **more})


def fill(bootstrap: str) -> None:
    """Make the topics, their records and their groups."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    made = [
        NewTopic(PLAIN, 2, 1, config={**FOREVER, "max.message.bytes": "2000000"}),
        NewTopic(TRANSACTED, 1, 1, config=FOREVER),
        NewTopic(TRIMMED, 1, 1, config=FOREVER),
        NewTopic(COMPACTED, 1, 1, config=AT_ONCE),
    ]
    for future in admin.create_topics(made).values():
        future.result(PATIENCE_S)
    write_plain(bootstrap, 0, 400)
    transact(bootstrap, "first", 0, 30, commit=True)
    transact(bootstrap, "second", 30, 40, commit=False)
    transact(bootstrap, "third", 40, 75, commit=True)
    _write(bootstrap, TRIMMED, [(None, b"%d" % at) for at in range(500)])
    for future in admin.delete_records([TopicPartition(TRIMMED, 0, 370)]).values():
        future.result(PATIENCE_S)
    _compact(bootstrap)
    for group, offset in GROUPS.items():
        places = [TopicPartition(PLAIN, 0, offset), TopicPartition(PLAIN, 1, offset + 2),
                  TopicPartition(TRANSACTED, 0, offset), TopicPartition(COMPACTED, 0, offset)]  # fmt: skip
        commit(bootstrap, group, places)


def commit(bootstrap: str, group: str, places: list[TopicPartition]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for future in admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, places)]).values():
        future.result(PATIENCE_S)


def write_plain(bootstrap: str, start: int, end: int) -> None:
    """Records with and without keys, values, headers, in every codec, small and large, of long ago."""
    for number, codec in enumerate(CODECS):
        writing = producer(bootstrap, **{"compression.type": codec})
        for at in range(start + number, end, len(CODECS)):
            headers = [("at", b"%d" % at), ("null", None), ("empty", b"")] if at % 3 else None
            key = None if at % 5 == 0 else b"key-%d" % at
            value = None if at % 7 == 0 and key else b"%d " % at * (20_000 if at % 50 == 0 else 3)
            writing.produce(PLAIN, value, key, at % 2, timestamp=LONG_AGO + at, headers=headers)
            if at % 11 == 0:
                writing.flush()
        assert writing.flush(PATIENCE_S) == 0


def transact(bootstrap: str, name: str, start: int, end: int, *, commit: bool) -> None:
    writing = producer(bootstrap, **{"transactional.id": name})
    writing.init_transactions(PATIENCE_S)
    for chunk in range(start, end, 5):
        writing.begin_transaction()
        for at in range(chunk, min(chunk + 5, end)):
            writing.produce(TRANSACTED, b"%d" % at, b"%d" % (at % 4), 0, timestamp=LONG_AGO + at)
        if commit:
            writing.commit_transaction(PATIENCE_S)
        else:
            assert writing.flush(PATIENCE_S) == 0
            writing.abort_transaction(PATIENCE_S)


def _compact(bootstrap: str) -> None:
    """Keys written again and again, until compaction has left gaps."""
    until, turn = time.monotonic() + PATIENCE_S, 0
    while time.monotonic() < until:
        rows = [(b"%d" % (at % 40), b"%d/%d" % (turn, at)) for at in range(100)]
        _write(bootstrap, COMPACTED, [*rows, (b"%d" % turn, None)])
        offsets = [offset for offset, _ in seen(bootstrap, COMPACTED)[0]]
        if turn > 2 and offsets[-1] - offsets[0] + 1 > len(offsets):
            return
        turn += 1
        time.sleep(0.2)
    raise AssertionError("nothing was compacted")


def _write(bootstrap: str, topic: str, rows: list[tuple[bytes | None, bytes | None]]) -> None:
    writing = producer(bootstrap)
    for key, value in rows:
        writing.produce(topic, value, key, 0)
    assert writing.flush(PATIENCE_S) == 0


def seen(bootstrap: str, topic: str) -> dict[int, list[tuple[int, Seen]]]:
    """All committed records by partition, each with its offset."""
    reading = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False, "log_level": 0,
         "isolation.level": "read_committed", "enable.partition.eof": True, "fetch.wait.max.ms": 10}
    )  # fmt: skip
    partitions = sorted(reading.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions)
    reading.assign([TopicPartition(topic, at, OFFSET_BEGINNING) for at in partitions])
    found: dict[int, list[tuple[int, Seen]]] = {at: [] for at in partitions}
    ended: set[int] = set()
    while len(ended) < len(partitions):
        message = reading.poll(PATIENCE_S)
        assert message is not None, f"{topic} does not end"
        if message.error():
            ended.add(message.partition())
            continue
        headers = tuple((name, value) for name, value in message.headers() or ())
        told = Seen(message.key(), message.value(), headers, message.timestamp())
        found[message.partition()].append((message.offset(), told))
    reading.close()
    return found


def committed(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    told = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(PATIENCE_S)
    return {(each.topic, each.partition): each.offset for each in told.topic_partitions if each.offset >= 0}


def following(records: list[tuple[int, Seen]], offset: int) -> list[Seen]:
    """What a reader gets who goes on at an offset."""
    return [record for at, record in records if at >= offset]


def check_same(source: str, target: str) -> None:
    """The same records in the same order on both sides, and groups that go on with the same record."""
    here, there = ({topic: seen(side, topic) for topic in TOPICS} for side in (source, target))
    for topic in TOPICS:
        for at, records in here[topic].items():
            theirs = there[topic][at]
            if topic == COMPACTED:
                assert _last(records) == _last(theirs)
            else:
                assert [record for _, record in records] == [record for _, record in theirs], (topic, at)
            if topic in (PLAIN, TRIMMED):
                assert [offset for offset, _ in records] == [offset for offset, _ in theirs]
    for group in GROUPS:
        ours, translated = committed(source, group), committed(target, group)
        assert ours.keys() == translated.keys()
        for (topic, at), offset in ours.items():
            if topic != COMPACTED:  # where either side may have dropped records since
                place = translated[topic, at]
                assert following(here[topic][at], offset) == following(there[topic][at], place), (
                    group,
                    topic,
                    at,
                )


def _last(records: list[tuple[int, Seen]]) -> dict[bytes | None, Seen]:
    found = {record.key: record for _, record in records}
    return {key: record for key, record in found.items() if record.value is not None}


def start_copy(source: str, target: str, *options: str) -> subprocess.Popen[str]:
    """`andiron copy` in a process of its own."""
    ends = ["--from", source, "--to", target]
    return subprocess.Popen(
        [sys.executable, "-m", "andiron", "copy", *ends, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip


def copied(source: str, target: str, *options: str) -> dict[str, Any]:
    """A copy to its good end, and what it told."""
    process = start_copy(source, target, "--json", *options)
    out, err = process.communicate(timeout=PATIENCE_S * 2)
    assert process.returncode == 0, out + err
    told: dict[str, Any] = json.loads(out)
    assert told["proven"], out
    return told
