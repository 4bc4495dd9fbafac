"""Three ways to the same columns, and to the same bytes: C, numpy, and a plain loop over records."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andiron.columns import decode as decoding
from andiron.columns import encode as encoding
from andiron.columns import native, pack, partition, walk
from andiron.columns.decode import decode
from andiron.columns.encode import NOBODY, ProducerFields, encode
from andiron.columns.partition import numpy_partitions, partitions_of
from andiron.columns.schema import HEADERS, arrow_schema
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.batch import Batch, iterate
from andiron.records.builder import BatchBuilder, build, retain
from andiron.records.murmur2 import murmur2
from andiron.records.record import Record, contents, keys_of, records_of
from andiron.records.varint import encode_varint
from properties.effort import tries

_native = import_module("andiron.columns._native") if native.walk else None
needs_native = pytest.mark.skipif(native.walk is None, reason="the extension was not built here")
OFFSET_MAX = (1 << 63) - 1
NOW = 1_700_000_000_123
KINDS = [pa.binary(), pa.large_binary(), pa.binary_view()]

blobs = st.none() | st.binary(max_size=80) | st.binary(min_size=130, max_size=300)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
headers = st.lists(st.tuples(names, blobs), max_size=3).map(tuple)
times = st.integers(-1, 2**53) | st.integers(1_700_000_000_000, 1_700_000_009_999)
records = st.builds(Record, st.just(0), times, blobs, blobs, headers)
codecs = st.integers(0, 4)


@st.composite
def batches(draw):
    """A batch as a producer makes it, or as the broker's clock or compaction left it."""
    those = draw(st.lists(records, min_size=1, max_size=12))
    base = draw(st.integers(0, 200) | st.just(OFFSET_MAX - 20))
    by_broker = draw(st.booleans())
    made = build(
        those,
        base_offset=base,
        codec=draw(codecs),
        timestamp_type=int(by_broker),
        max_timestamp=draw(times) if by_broker else None,
        transactional=draw(st.booleans()),
    )
    if draw(st.booleans()):
        return bytes(made)
    batch, kept = Batch(made), draw(st.sets(st.integers(base, base + len(those) - 1)))
    inside = contents(batch)
    spans = [(at.start, at.stop) for at in keys_of(batch, inside) if at.offset in kept]
    horizon = None if by_broker else draw(st.none() | times)
    return bytes(retain(batch, inside, spans, delete_horizon=horizon))


@st.composite
def answers(draw):
    """The batches of a fetch answer: all in one buffer, or each in its own."""
    raws = draw(st.lists(batches(), max_size=5))
    if draw(st.booleans()):
        before = draw(st.binary(max_size=3))
        return list(iterate(before + b"".join(raws), len(before)))
    return [Batch(memoryview(raw)) for raw in raws]


def row_of(record, batch, topic, partition, with_headers):
    row = {
        "key": record.key,
        "value": record.value,
        "topic": topic,
        "partition": partition,
        "offset": record.offset,
        "timestamp": record.timestamp * 1000,
        "timestampType": batch.timestamp_type,
    }
    if with_headers:
        row["headers"] = [{"key": key, "value": value} for key, value in record.headers] or None
    return row


def plainly_decoded(those, topic, partition, start, end, with_headers):
    """The rows by a loop over records."""
    return [
        row_of(record, batch, topic, partition, with_headers)
        for batch in those
        if batch.last_offset >= start and batch.base_offset < end
        for record in records_of(batch)
        if start <= record.offset < end
    ]


def decoded(walker, those, topic="t", number=0, start=0, end=None, with_headers=True):
    """The rows by one of the two walks; or the error it ended in."""
    before, decoding._walk = decoding._walk, walker
    try:
        rows = decode(those, topic, number, start=start, end=end, headers=with_headers)
    finally:
        decoding._walk = before
    rows.validate(full=True)
    assert rows.schema.equals(arrow_schema(with_headers))
    at = rows.schema.get_field_index("timestamp")
    return rows.set_column(at, "timestamp", rows["timestamp"].cast(pa.int64())).to_pylist()


def outcome(walker, those, with_headers):
    try:
        return decoded(walker, those, with_headers=with_headers)
    except ProtocolError as error:
        assert error.code is ErrorCode.CORRUPT_MESSAGE
        return None


@given(answers(), st.booleans(), st.integers(0, 220), st.none() | st.integers(0, 240))
@settings(deadline=None, max_examples=tries(150), suppress_health_check=[HealthCheck.too_slow])
def test_a_walk_finds_what_a_loop_finds(those, with_headers, start, end):
    beyond = OFFSET_MAX if end is None else end
    expected = plainly_decoded(those, "orders", 7, start, beyond, with_headers)

    for walker in filter(None, (walk.walk, native.walk)):
        assert decoded(walker, those, "orders", 7, start, end, with_headers) == expected


def agree_on(those):
    """Both walks say the same of whatever this is, and no less than the loop that it is wrong."""
    for with_headers in (True, False):
        in_numpy = outcome(walk.walk, those, with_headers)
        if native.walk is not None:
            assert outcome(native.walk, those, with_headers) == in_numpy
    try:
        expected = plainly_decoded(those, "t", 0, 0, OFFSET_MAX, with_headers=True)
    except ProtocolError:
        expected = None
    in_numpy = outcome(walk.walk, those, with_headers=True)
    if in_numpy is not None:
        assert in_numpy == expected
    elif expected is not None:
        # The loop takes times and offsets of any size, and a last batch whose end is missing but holds nothing.
        too_far = any(abs(row["timestamp"]) > OFFSET_MAX - 1000 for row in expected)
        too_far |= any(batch.last_offset > OFFSET_MAX for batch in those)
        assert too_far or any(batch.position + batch.size > len(batch.buf) for batch in those)


@given(answers().filter(bool), st.data())
@settings(deadline=None, max_examples=tries(200), suppress_health_check=[HealthCheck.too_slow])
def test_damage_is_refused_alike_or_harmless_alike(those, data):
    damaged = []
    for batch in those:
        raw = bytearray(batch.raw)
        for _ in range(data.draw(st.integers(0, 3))):
            raw[data.draw(st.integers(8, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        try:
            damaged.append(Batch(raw))
        except ProtocolError:
            return
    agree_on(damaged)


@given(codecs, st.binary(max_size=200), st.integers(-2, 30), st.integers(-1, 40))
@settings(deadline=None, max_examples=tries(300))
def test_anything_at_all_in_place_of_records_is_refused_alike(codec, body, count, last_delta):
    raw = build([Record(0, 0, None, None)])[:61] + body
    raw[8:12] = (len(raw) - 12).to_bytes(4, "big")
    raw[22] = codec
    raw[23:27] = last_delta.to_bytes(4, "big", signed=True)
    raw[57:61] = count.to_bytes(4, "big", signed=True)

    agree_on([Batch(raw)])


@given(st.lists(st.integers(0, 255) | st.sampled_from([0, 1, 2, 0x7F, 0x80, 0x81, 0xFE, 0xFF]), max_size=60))
@settings(deadline=None, max_examples=tries(300))
def test_a_record_of_any_bytes_is_refused_alike(body):
    """One record whose length is right: the damage is inside."""
    inside = bytes(body)
    raw = build([Record(0, 0, None, None)])[:61] + encode_varint(len(inside)) + inside
    raw[8:12] = (len(raw) - 12).to_bytes(4, "big")
    raw[23:27] = (1 << 30).to_bytes(4, "big")

    agree_on([Batch(raw)])


def test_thousands_of_tiny_batches_are_one_walk():
    raw = b"".join(
        bytes(build([Record(0, n, b"%d" % n, None)], base_offset=2 * n, codec=4 if n % 7 == 0 else 0))
        for n in range(3000)
    )
    those = list(iterate(raw))
    expected = plainly_decoded(those, "t", 0, 0, OFFSET_MAX, with_headers=True)

    for walker in filter(None, (walk.walk, native.walk)):
        assert decoded(walker, those) == expected


@st.composite
def tables(draw):
    """Rows in any of the Arrow types that can hold them, cut out of more rows."""
    those = draw(st.lists(records, max_size=25))
    before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    padding = Record(0, 5, b"padding", b"padding", (("padding", b"x"),))
    padded = [padding] * before + those + [padding] * after
    stamps = [None if draw(st.integers(0, 3)) == 0 else record.timestamp for record in padded]
    columns = {
        "key": pa.array([record.key for record in padded], pa.binary()).cast(draw(st.sampled_from(KINDS))),
        "value": pa.array([record.value for record in padded], pa.binary()).cast(
            draw(st.sampled_from(KINDS))
        ),
        "timestamp": pa.array(
            [None if at is None else at * 1000 for at in stamps], pa.timestamp("us", "UTC")
        ),
        "headers": header_column(padded),
    }
    for optional in ("key", "timestamp", "headers"):
        if draw(st.integers(0, 4)) == 0:
            del columns[optional]
    rows = pa.record_batch(columns).slice(before, len(those))
    plain = []
    for record, at in zip(those, stamps[before:], strict=False):
        time = NOW if at is None or "timestamp" not in columns else at
        key = record.key if "key" in columns else None
        plain.append(Record(0, time, key, record.value, record.headers if "headers" in columns else ()))
    return rows, plain


def header_column(those):
    lists = [[{"key": k, "value": v} for k, v in record.headers] or None for record in those]
    return pa.array(lists, HEADERS)


def plainly_encoded(those, codec, batch_bytes, producer):
    """The batches by a loop over a builder."""
    made, sequence = [], producer.base_sequence
    while those:
        batch = BatchBuilder()
        count = 0
        for _, timestamp, key, value, each in those:
            batch.append(timestamp, key, value, each)
            if count and batch.size > batch_bytes:
                break
            count += 1
        fields = {"producer_id": producer.producer_id, "producer_epoch": producer.producer_epoch}
        raw = build(
            those[:count], codec=codec, base_sequence=sequence, transactional=producer.transactional, **fields
        )
        made.append((raw, count, sequence))
        those = those[count:]
        if sequence >= 0:
            sequence = (sequence + count) % (1 << 31)
    return made


producers = st.just(NOBODY) | st.builds(
    ProducerFields,
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**15 - 1),
    st.integers(0, 2**31 - 1),
    st.booleans(),
)


@given(tables(), codecs, st.integers(62, 1500) | st.just(1 << 20), producers, st.data())
@settings(deadline=None, max_examples=tries(200), suppress_health_check=[HealthCheck.too_slow])
def test_packing_makes_what_a_builder_makes(table, codec, batch_bytes, producer, data):
    rows, plain = table
    indices = None
    if plain and data.draw(st.booleans()):
        chosen = data.draw(st.lists(st.integers(0, len(plain) - 1), max_size=20))
        indices, plain = (
            np.array(chosen, data.draw(st.sampled_from([np.int32, np.int64]))),
            [plain[n] for n in chosen],
        )
    expected = plainly_encoded(plain, codec, batch_bytes, producer)

    before = encoding._pack
    for packer in filter(None, (pack.pack, native.pack)):
        encoding._pack = packer
        try:
            made = encode(
                rows,
                codec=codec,
                batch_bytes=batch_bytes,
                now=NOW,
                producer=producer,
                indices=indices,
            )
        finally:
            encoding._pack = before
        assert made == expected


@given(
    st.lists(st.none() | st.binary(max_size=30) | st.binary(min_size=250, max_size=270)), st.integers(1, 500)
)
@settings(deadline=None)
def test_a_column_of_keys_goes_where_each_key_goes(keys, count):
    expected = [-1 if key is None else (murmur2(key) & 0x7FFFFFFF) % count for key in keys]
    column = pa.array(keys, pa.large_binary())

    assert numpy_partitions(column, count).tolist() == expected
    assert partitions_of(column, count).tolist() == expected


@needs_native
@given(st.integers(-3, 3), st.integers(-70, 70), st.binary(max_size=64), st.binary(max_size=40))
@settings(deadline=None)
def test_nonsense_given_to_the_extension_itself_is_refused(source, number, table, data):
    """No table, count or column that Python code would make: an error, and nothing read that is not there."""
    rows = np.full(8, number, np.int64)
    rows[0] = source
    column = (table, data, data, 4 + 4 * (source % 2), source, abs(number), number)
    for attempt in (
        lambda: _native.measure([data], rows, 0, 10, True),
        lambda: _native.measure([data], table, 0, 10, False),
        lambda: _native.walk([data], rows, 0, 10, True, (number,) * 7, bytearray(64)),
        lambda: _native.walk([data], rows, 0, 10, True, (64, 1, 1, 1, 1, 1, 1), data),
        lambda: _native.partitions(column, number),
        lambda: _native.pack(column, column, column, column, column, column, table, number, number),
        lambda: _native.pack(None, column, None, None, None, None, None, number, number),
    ):
        try:
            attempt()
        except (ValueError, TypeError, BufferError, OverflowError):
            continue


def test_the_pairs_are_those_that_are_used():
    if native.walk is not None:
        assert decoding._walk is native.walk
        assert encoding._pack is native.pack
        assert partition._partitions is native.partitions
