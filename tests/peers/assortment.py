"""Topics that try a reader: nulls, headers, codecs, gaps of every origin, and ends that are not the end.

plain       3 partitions of 20: keys, nulls, headers, every codec; record n is from minute n
compacted   keys 0-4 over and over, most of them gone
ended       committed, aborted and plain records, and at the end a transaction that is still open
trimmed     10 records, the first 4 of them deleted
empty       2 partitions without a record
"""

from __future__ import annotations

from confluent_kafka import Producer

from peers.clients.base import CODECS, Record
from peers.topics import Topics
from peers.waiting import eventually

MINUTE = 60_000
BEGINNING = 1_700_000_000_000
NOWHERE = "nowhere"


class Assortment:
    """The topics, filled; `names` has their real names by those above, and one that is not there."""

    def __init__(self, topics: Topics) -> None:
        self.prefix = topics.name
        self.names = {NOWHERE: f"{topics.name}-{NOWHERE}"}
        self._topics = topics
        _fill_plain(topics, self._make("plain", 3))
        _fill_compacted(topics, self._make("compacted", 1, **EAGER))
        self._open = _fill_ended(topics, self._make("ended", 1))
        _fill_trimmed(topics, self._make("trimmed", 1))
        self._make("empty", 2)

    def _make(self, name: str, partitions: int, **configs: str) -> str:
        self.names[name] = self._topics.make(partitions, f"{self.prefix}-{name}", **configs)
        return self.names[name]


# Segments of a minute by the records' own time, compacted as soon as there are two.
EAGER = {"cleanup_policy": "compact", "min_cleanable_dirty_ratio": "0.001", "segment_ms": str(MINUTE)}


def _fill_plain(topics: Topics, topic: str) -> None:
    for partition in range(3):
        records = [_assorted(number) for number in range(20)]
        for half, codec in ((records[:10], CODECS[partition]), (records[10:], CODECS[-partition])):
            topics.write(topic, half, partition, codec)


def _assorted(number: int) -> Record:
    key = None if number % 5 == 0 else b"key %d" % number
    value = None if number % 7 == 0 else b"value %d" % number
    headers = (("a", b"1"), ("a", None), ("é", b"")) if number % 3 == 0 else ()
    return Record(key, value, headers, BEGINNING + number * MINUTE)


def _fill_compacted(topics: Topics, topic: str) -> None:
    """100 records of 5 keys, of which one each stays; the last record opens a segment and is not compacted."""
    topics.write(topic, [Record(b"key %d" % (n % 5), b"%d" % n, (), BEGINNING) for n in range(100)])
    topics.write(topic, [Record(b"key 9", b"last", (), BEGINNING + 60 * MINUTE)])
    eventually(lambda: len(topics.read(topic)) == 6)


def _fill_ended(topics: Topics, topic: str) -> Producer:
    """Records 0-4 committed, 5-9 aborted, 10-14 committed, 3 plain ones, and 3 whose end is not known."""
    for first, commit in ((0, True), (5, False), (10, True)):
        topics.write_transaction(topic, [f"value {first + n}" for n in range(5)], commit=commit)
    topics.write(topic, ["plain 1", "plain 2", "plain 3"])
    return topics.begin_transaction(topic, ["open 1", "open 2", "open 3"])


def _fill_trimmed(topics: Topics, topic: str) -> None:
    topics.write(topic, [f"value {number}" for number in range(10)])
    topics.delete_before(topic, 4)
