"""Produce: what becomes of a batch on its way to the log, its times and its compression."""

import pytest

from andiron.records.batch import Batch, iterate, seal
from andiron.records.builder import build
from andiron.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD
from andiron.records.record import Record
from worlds.node import error_of, records_in
from worlds.producing import batch, sequence


def stored(node, topic):
    """The batches of a partition as they lie in its log."""
    return list(iterate(bytes(node.fetch(topic).records)))


def test_under_log_append_time_the_broker_sets_the_time(node):
    node.create("t", message_timestamp_type="LogAppendTime")
    records = build([Record(0, 5, None, b"a")])

    answer = node.produce("t", records=records)

    assert answer.log_append_time_ms == node.now
    [written] = stored(node, "t")
    assert (written.timestamp_type, written.max_timestamp, written.is_intact()) == (1, node.now, True)
    assert records_in(node.fetch("t").records)[0].timestamp == node.now


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_batch_is_stored_as_it_came_but_for_offset_and_epoch(node, codec):
    node.create("t")
    node.produce("t", b"first")
    records = batch(node, bytes(500), codec=codec)
    sent = bytes(records)

    node.produce("t", records=records)

    kept = stored(node, "t")[-1]
    assert (kept.codec, kept.base_offset, kept.leader_epoch) == (codec, 1, 0)
    assert bytes(kept.raw)[16:] == sent[16:]


CODECS = {"gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD, "uncompressed": NONE}


@pytest.mark.parametrize("wanted", CODECS)
@pytest.mark.parametrize("sent", [NONE, GZIP, ZSTD])
def test_a_topics_codec_is_what_its_batches_are_stored_in(node, wanted, sent):
    node.create("t", compression_type=wanted)
    records = batch(node, b"a" * 500, b"b", codec=sent, **sequence(0))

    assert error_of(node.produce("t", records=records)) == "NONE"

    [kept] = stored(node, "t")
    assert (kept.codec, kept.producer_id, kept.is_intact()) == (CODECS[wanted], 7, True)
    assert node.values("t") == [b"a" * 500, b"b"]


def test_the_level_of_compression_is_the_topics(node):
    text = b" ".join(b"%d" % (number * number % 997) for number in range(5_000))
    sizes = []
    for level in (1, 9):
        node.create(f"t{level}", compression_type="gzip", compression_gzip_level=level)
        node.produce(f"t{level}", text)
        sizes.append(node.log(f"t{level}").size)

    assert sizes[0] > sizes[1]


def test_a_batch_that_grows_beyond_the_limit_when_it_is_unpacked_is_refused(node):
    node.create("t", compression_type="uncompressed", max_message_bytes=2_000)
    records = batch(node, bytes(20_000), codec=GZIP)
    assert len(records) < 2_000

    assert error_of(node.produce("t", records=records)) == "MESSAGE_TOO_LARGE"
    assert node.log("t").end == 0


def test_packed_nonsense_is_refused_where_it_has_to_be_opened(node):
    node.create("t", compression_type="zstd")
    records = batch(node, bytes(500), codec=GZIP)
    records[70:90] = bytes(20)
    seal(records, 0, len(records))

    assert error_of(node.produce("t", records=records)) in ("CORRUPT_MESSAGE", "INVALID_RECORD")
    assert node.log("t").end == 0


def test_every_stored_batch_has_its_checksum(node):
    node.create("t", message_timestamp_type="LogAppendTime", compression_type="lz4")
    for codec in (NONE, GZIP):
        node.produce("t", bytes(300), codec=codec)

    assert all(isinstance(each, Batch) and each.is_intact() for each in stored(node, "t"))
