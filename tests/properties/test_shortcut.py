"""The short way of Produce and the long one give the same bytes, whatever is sent."""

from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.model.effects import Received
from andiron.records.batch import seal
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from properties.effort import tries
from worlds.node import SmallNode

TOPICS = {
    "plain": {},
    "stamped": {"message_timestamp_type": "LogAppendTime"},
    "packed": {"compression_type": "gzip"},
    "compacted": {"cleanup_policy": "compact"},
}


def produced(node, topic, partition, version, acks, sizes, codec, producer, flip, sealed):
    records = build(
        [Record(0, node.now, b"k" if size % 5 else None, bytes(size)) for size in sizes],
        codec=codec,
        **(
            {}
            if producer is None
            else dict(zip(("producer_id", "producer_epoch", "base_sequence"), producer, strict=True))
        ),
    )
    if flip is not None:
        records[flip % len(records)] ^= 1 << flip % 8
        if sealed:
            seal(records, 0, len(records))
    request = node.produce_request(topic, [], partition, acks=acks, records=records)
    return encode_request_header(0, version, 7, "client") + encode_message(request, version)


requests = st.tuples(
    st.sampled_from([*TOPICS, "absent"]),
    st.integers(0, 1),
    st.sampled_from([3, 7, 9, 11]),
    st.sampled_from([-1, 1]),
    st.lists(st.integers(0, 300), min_size=1, max_size=3),
    st.sampled_from([0, 0, 3]),
    st.none() | st.tuples(st.just(5), st.integers(0, 1), st.integers(0, 3)),
    st.none() | st.integers(0, 10_000),
    st.booleans(),
)


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.tuples(requests, st.integers(1, 4)), min_size=1, max_size=12))
def test_both_ways_answer_alike_and_leave_the_same_log(history):
    short, long = SmallNode(), SmallNode()
    for node in (short, long):
        for topic, configs in TOPICS.items():
            node.create(topic, **configs)
    ticket = 1_000
    for request, times in history:
        for _ in range(times):
            ticket += 1
            frame = produced(short, *request)
            long.node._shortcuts.clear()
            replies = [
                node.node.step(Received(1, ticket, memoryview(bytearray(frame))), node.now)
                for node in (short, long)
            ]
            assert [(type(r), joined(r)) for r in replies[0]] == [(type(r), joined(r)) for r in replies[1]]
    for name in TOPICS:
        logs = [node.node.broker.partition_by_name(name, 0).log for node in (short, long)]
        assert logs[0].segments.active.file.read(0, 1 << 20) == logs[1].segments.active.file.read(0, 1 << 20)


def joined(effect):
    parts = getattr(effect, "parts", None)
    return parts and b"".join(map(bytes, parts))
