"""Laws of the batch format: round trips for any records, and nonsense that is always refused in order."""

from __future__ import annotations

import contextlib
import struct
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records import native, validate
from andiron.records.batch import HEADER, Batch, iterate, seal, stamp
from andiron.records.builder import BatchBuilder, build, recompress, record_bytes_max, retain
from andiron.records.compression import compress, decompress
from andiron.records.control import control_records
from andiron.records.record import Record, contents, keys_of, records_of
from andiron.records.validate import ProduceLimits, check_batch, check_produced, check_records
from andiron.records.varint import encode_varint, read_varint
from andiron.records.walk import walk
from properties.effort import tries

CAP = 1 << 20

codecs = st.integers(0, 4)
blobs = st.none() | st.binary(max_size=300)
names = st.text(max_size=12).filter(lambda text: text.isprintable())
headers = st.lists(st.tuples(names, blobs), max_size=4).map(tuple)
times = st.integers(-1, 2**53)
records = st.builds(Record, st.just(0), times, blobs, blobs, headers)
batches_of = st.lists(records, min_size=1, max_size=20)


def numbered(those, base=0):
    return [record._replace(offset=base + n) for n, record in enumerate(those)]


def checked(batch, *, keyed=False, now=0):
    return check_records(batch, ProduceLimits(CAP, keyed=keyed), now)


def look_everywhere(raw):
    """Do to the bytes all that anyone does; only a ProtocolError may come of it."""
    for act in (
        lambda: check_produced(raw, CAP),
        lambda: list(iterate(raw)),
        lambda: checked(check_produced(bytearray(raw), CAP), keyed=True),
        lambda: list(records_of(Batch(raw), CAP)),
        lambda: list(keys_of(Batch(raw), contents(Batch(raw), CAP))),
        lambda: recompress(Batch(raw), 0, cap=CAP),
        lambda: control_records(Batch(raw)),
        lambda: repr(Batch(raw)),
    ):
        with contextlib.suppress(ProtocolError):
            act()


@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3))
def test_any_number_comes_back(number, after):
    encoded = encode_varint(number)

    assert read_varint(encoded + after, 0) == (number, len(encoded))


@given(codecs, st.binary(max_size=3000), st.integers(1, 40))
def test_any_bytes_come_back_from_any_codec(codec, data, times_over):
    assert decompress(codec, compress(codec, data * times_over)) == data * times_over


@given(batches_of, codecs, st.integers(0, 2**62), st.integers(-1, 2**31 - 1))
def test_any_records_come_back_from_any_batch(those, codec, base, epoch):
    raw = build(those, codec=codec)
    assert check_produced(raw, CAP).count == len(those)
    stamp(raw, 0, base, epoch)

    batch = Batch(raw)

    assert batch.is_intact()
    assert (batch.base_offset, batch.leader_epoch, batch.next_offset) == (base, epoch, base + len(those))
    assert list(records_of(batch)) == numbered(those, base)
    assert [at[:3] for at in keys_of(batch)] == [
        (base + n, record.key, record.value is None) for n, record in enumerate(those)
    ]


@given(st.lists(batches_of, max_size=4), st.integers(0, 200))
def test_a_walk_finds_every_whole_batch(lists, cut):
    raws = [build(those) for those in lists]
    whole = b"".join(raws)
    end = max(0, len(whole) - cut)

    found = [batch.size for batch in iterate(whole, 0, end)]

    assert found == [len(raw) for raw in raws][: len(found)]
    assert end - sum(found) < (len(raws[len(found)]) if len(found) < len(raws) else 1)


@given(batches_of, codecs, codecs)
def test_another_codec_holds_the_same_records(those, before, after):
    batch = Batch(build(those, codec=before))

    assert list(records_of(Batch(recompress(batch, after)))) == list(records_of(batch))


@given(batches_of, codecs, st.data(), st.none() | st.integers(0, 2**53))
def test_what_is_retained_is_unchanged(those, codec, data, horizon):
    batch = Batch(
        build(those, base_offset=1000, codec=codec, producer_id=1, producer_epoch=1, base_sequence=1)
    )
    kept = data.draw(st.sets(st.integers(1000, batch.last_offset)))
    inside = contents(batch)
    spans = [(at.start, at.stop) for at in keys_of(batch, inside) if at.offset in kept]

    after = Batch(retain(batch, inside, spans, delete_horizon=horizon))

    assert list(records_of(after)) == [record for record in records_of(batch) if record.offset in kept]
    assert (after.base_offset, after.last_offset) == (batch.base_offset, batch.last_offset)
    assert after.last_sequence == batch.last_sequence
    assert after.is_intact()


@given(records)
def test_no_record_is_larger_than_foretold(record):
    builder = BatchBuilder()
    builder.append(record.timestamp, record.key, record.value, record.headers)

    assert builder.size - 61 <= record_bytes_max(record.key, record.value, record.headers)


@given(batches_of, codecs, st.data())
@settings(max_examples=tries(300))
def test_flipped_bits_are_always_noticed(those, codec, data):
    raw = build(those, codec=codec)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(21, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    if raw == build(those, codec=codec):
        return

    try:
        check_produced(raw, CAP)
    except ProtocolError:
        return
    raise AssertionError("a damaged batch was let in")


@given(batches_of, codecs, st.data())
@settings(max_examples=tries(300))
def test_damage_gives_an_error_of_the_protocol_or_none(those, codec, data):
    raw = build(those, codec=codec)
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(8, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    look_everywhere(raw)

    seal(raw, 0, len(raw))  # and the same from a producer whose checksum is right
    look_everywhere(raw)


@given(codecs, st.binary(max_size=400), st.integers(-5, 50))
@settings(max_examples=tries(300))
def test_records_made_of_anything_give_an_error_of_the_protocol_or_none(codec, body, count):
    raw = build([Record(0, 0, None, None)])[:61] + body
    raw[8:12] = (len(raw) - 12).to_bytes(4, "big")
    raw[22] = codec
    raw[57:61] = count.to_bytes(4, "big", signed=True)
    seal(raw, 0, len(raw))
    look_everywhere(raw)


@given(batches_of, codecs, st.integers(-(2**63), 2**63 - 1))
def test_the_largest_timestamp_is_the_records_whatever_the_header_says(those, codec, claimed):
    raw = build(those, codec=codec)
    raw[35:43] = claimed.to_bytes(8, "big", signed=True)
    seal(raw, 0, len(raw))

    batch = checked(check_produced(raw, CAP))

    assert batch.max_timestamp == max(record.timestamp for record in those)
    assert Batch(raw).is_intact()
    assert bytes(raw) == bytes(build(those, codec=codec))


@st.composite
def bodies(draw):
    """The bytes of some records, as they are or with a few of them changed, and how many they are said to be."""
    those = draw(st.lists(records, max_size=8))
    body = build([*those, Record(0, 0, None, None)])[61:-7] if those else bytearray()
    for _ in range(draw(st.integers(0, 3)) if body else 0):
        place = draw(st.integers(0, len(body) - 1))
        act = draw(st.sampled_from(["flip", "cut", "grow"]))
        if act == "flip":
            body[place] ^= 1 << draw(st.integers(0, 7))
        elif act == "cut":
            del body[place:]
        else:
            body[place:place] = draw(st.binary(min_size=1, max_size=11))
        if not body:
            break
    return bytes(body), draw(st.just(len(those)) | st.integers(-2, 9))


def answer(walker, *asked):
    try:
        found = walker(*asked)
        return None if found is None else tuple(found)
    except ValueError as error:
        return str(error)


@pytest.mark.skipif(native.walk is None, reason="the extension was not built here")
@given(
    bodies() | st.tuples(st.binary(max_size=60), st.integers(-1, 8)),
    st.integers(-1, 2**53) | st.sampled_from([2**63 - 1, -(2**63)]),
    st.integers(-1, 2**53),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.integers(0, 3),
)
@settings(max_examples=tries(500))
def test_compiled_or_not_a_walk_takes_and_refuses_the_same(
    body, base, top, earliest, latest, keyed, told_max
):
    data, count = body
    asked = (
        b"before" + data + b"after",
        6,
        6 + len(data),
        base,
        top,
        count,
        earliest,
        latest,
        keyed,
        told_max,
    )

    assert answer(native.walk, *asked) == answer(walk, *asked)


numbers = st.integers(-3, 3) | st.sampled_from(
    [8, 16, 32, 64, 2**15, 2**31 - 1, -(2**31), 2**53, 2**63 - 1, -(2**63)]
)


@st.composite
def produced(draw):
    """The bytes of a batch as a producer may send it: as it should be, or with fields, bits or an end that are not."""
    identity = {
        "producer_id": 7,
        "producer_epoch": draw(st.integers(0, 2)),
        "base_sequence": draw(st.integers(0, 9)),
    }
    raw = build(
        draw(batches_of),
        codec=draw(st.sampled_from([0, 0, 0, 1, 4])),
        **draw(st.sampled_from([{}, identity])),
    )
    for _ in range(draw(st.integers(0, 2))):
        fields = list(HEADER.unpack_from(raw))
        place = draw(st.integers(0, len(fields) - 1))
        fields[place] = draw(numbers)
        with contextlib.suppress(struct.error):  # of a number that has no room there
            HEADER.pack_into(raw, 0, *fields)
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        raw[draw(st.integers(0, len(raw) - 1))] ^= 1 << draw(st.integers(0, 7))
    if draw(st.booleans()):
        seal(raw, 0, len(raw))
    end = draw(st.sampled_from(["as it is", "as it is", "cut", "grown"]))
    if end == "cut":
        del raw[draw(st.integers(0, len(raw))) :]
    elif end == "grown":
        raw += draw(st.binary(max_size=80))
    return bytes(raw)


limits = st.builds(
    ProduceLimits,
    st.sampled_from([70, 200, CAP]),
    append_time=st.booleans(),
    before_max_ms=st.sampled_from([0, 10_000, 2**62, 2**63 - 1]),
    after_max_ms=st.sampled_from([0, 10_000, 2**62, 2**63 - 1]),
    keyed=st.booleans(),
)


def taken_or_refused(raw, *asked):
    """All that can be seen of a check: what was taken, or the refusal in its words, and the bytes after it."""
    sent = bytearray(raw)
    try:
        batch = check_batch(memoryview(sent), *asked)
    except ProtocolError as error:
        return type(error), error.code, error.detail, getattr(error, "records", None), bytes(sent)
    return [getattr(batch, field) for field in Batch.__slots__ if field != "buf"], bytes(sent)


@pytest.mark.skipif(native.check is None, reason="the extension was not built here")
@given(produced() | st.binary(max_size=120), limits, st.integers(0, 2**53), st.booleans())
@settings(max_examples=tries(1000), deadline=None)
def test_compiled_or_not_a_check_takes_and_refuses_the_same(raw, limits, now, zstd):
    found = taken_or_refused(raw, limits, now, zstd)
    with patch.object(validate, "_check", validate._look_closer):
        closer = taken_or_refused(raw, limits, now, zstd)

    assert found == closer


@pytest.mark.skipif(native.check is None, reason="the extension was not built here")
@given(produced(), limits, st.integers(0, 2**53), st.booleans())
@settings(max_examples=tries(300), deadline=None)
def test_what_is_taken_as_it_came_is_not_looked_at_closer(raw, limits, now, zstd):
    _, *after = taken_or_refused(raw, limits, now, zstd)
    if after == [raw] and Batch(raw).max_timestamp == seen_latest(raw):
        assert native.check(raw, limits, now, zstd) == HEADER.unpack_from(raw)


def seen_latest(raw):
    """The latest timestamp of its records, which the header of a batch under LogAppendTime need not tell."""
    return max((record.timestamp for record in records_of(Batch(raw))), default=-1)


@given(batches_of, codecs, st.data())
@settings(max_examples=tries(300))
def test_what_a_walk_lets_in_everyone_can_read(those, codec, data):
    body = bytearray(contents(Batch(build(those))))
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    whole = build(those)
    whole[61:] = body
    seal(whole, 0, len(whole))
    raw = recompress(Batch(whole), codec)

    try:
        batch = checked(check_produced(raw, CAP))
    except ProtocolError as error:
        assert error.code is ErrorCode.INVALID_RECORD
    else:
        assert [record.offset for record in records_of(batch)] == list(range(len(those)))
        assert len(list(keys_of(batch))) == len(those)
        assert max(record.timestamp for record in records_of(batch)) <= batch.max_timestamp


@given(st.binary(max_size=200))
def test_any_bytes_at_all_give_an_error_of_the_protocol_or_none(raw):
    look_everywhere(raw)
