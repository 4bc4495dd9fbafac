"""The short way of Produce, compiled or not, and the long one give the same bytes, whatever is sent."""

from contextlib import ExitStack, nullcontext
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.broker.node import shortcut
from andiron.model.effects import Received
from andiron.records import native, validate
from andiron.records.batch import seal
from andiron.records.builder import build
from andiron.records.record import Record
from andiron.wire.codec import encode_message
from andiron.wire.header import encode_request_header
from andiron.wire.primitives import uvarint
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


def uncompiled():
    """Whoever looks at a frame does so without a compiler."""
    stack = ExitStack()
    stack.enter_context(patch.object(shortcut, "_repeat", shortcut.repeat))
    stack.enter_context(patch.object(validate, "_check", validate._look_closer))
    return stack


@settings(max_examples=tries(60), deadline=None)
@given(st.lists(st.tuples(requests, st.integers(1, 4)), min_size=1, max_size=12))
def test_all_ways_answer_alike_and_leave_the_same_log(history):
    short, slow, long = nodes = SmallNode(), SmallNode(), SmallNode()
    for node in nodes:
        for topic, configs in TOPICS.items():
            node.create(topic, **configs)
    ticket = 1_000
    for request, times in history:
        for _ in range(times):
            ticket += 1
            frame = produced(short, *request)
            long.node._shortcuts.clear()
            replies = []
            for node in nodes:
                with uncompiled() if node is slow else nullcontext():
                    effects = node.node.step(Received(1, ticket, memoryview(bytearray(frame))), node.now)
                replies.append([(type(each), joined(each)) for each in effects])
            assert replies[0] == replies[1] == replies[2]
    for name in TOPICS:
        logs = [node.node.broker.partition_by_name(name, 0).log for node in nodes]
        first, *others = [log.segments.active.file.read(0, 1 << 20) for log in logs]
        assert others == [first, first]


heads = st.sampled_from([9, 0x0000_000C])
lengths = st.integers(0, 400).map(lambda length: length.to_bytes(4, "big")) | st.integers(0, 400).map(uvarint)


@pytest.mark.skipif(native.repeat is None, reason="the extension was not built here")
@given(
    heads, heads, st.binary(max_size=12), st.integers(-(2**31), 2**31 - 1), st.booleans(), st.booleans(),
    lengths | st.binary(max_size=12), st.binary(max_size=300), st.sampled_from([b"", b"\0\0\0", b"\0\0\1", b"\0"]),
    st.none() | st.integers(0, 320),
)  # fmt: skip
@settings(max_examples=tries(1000))
def test_compiled_or_not_the_same_frames_repeat_another(
    head, known, prefix, correlation, flexible, fits, length, records, tail, cut
):
    if fits:
        length = uvarint(len(records) + 1) if flexible else len(records).to_bytes(4, "big")
        tail = bytes(3) if flexible else b""
    frame = (
        head.to_bytes(4, "big")
        + correlation.to_bytes(4, "big", signed=True)
        + prefix
        + length
        + records
        + tail
    )
    asked = memoryview(bytearray(frame[:cut])), known, prefix, flexible

    found = native.repeat(*asked)

    assert found == shortcut.repeat(*asked)
    if fits and cut is None and head == known and records and not (len(records) > 22 and records[22] & 0x10):
        start = len(frame) - len(records) - len(tail)
        assert found == (correlation, start, start + len(records))


@pytest.mark.skipif(native.repeat is None, reason="the extension was not built here")
@given(st.binary(max_size=40), st.binary(max_size=4), st.booleans())
def test_compiled_or_not_any_bytes_repeat_nothing_or_the_same(frame, prefix, flexible):
    asked = memoryview(frame), 0, prefix, flexible

    assert native.repeat(*asked) == shortcut.repeat(*asked)


def joined(effect):
    parts = getattr(effect, "parts", None)
    return parts and b"".join(map(bytes, parts))
