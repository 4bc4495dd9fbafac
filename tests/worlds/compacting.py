"""A compacted topic, and what is left of it."""

from andiron.records.builder import build
from andiron.records.record import Record
from worlds.node import records_in


def fill_compacted(node, topic="t", rounds=10, **configs):
    """Ten versions of three keys, in segments of a few records."""
    settings = {"cleanup_policy": "compact", "internal_segment_bytes": 300, "min_cleanable_dirty_ratio": 0.01}
    node.create(topic, **(settings | configs))
    write_compacted(node, topic, rounds)


def write_compacted(node, topic="t", rounds=10):
    for version in range(rounds):
        for key in (b"a", b"b", b"c"):
            node.produce(topic, records=build([Record(0, node.now, key, b"%s%d" % (key, version))]))


def records(node, topic="t"):
    found, offset = [], node.log(topic).start
    while more := [r for r in records_in(node.fetch(topic, offset).records) if r.offset >= offset]:
        found += more
        offset = more[-1].offset + 1
    return found
