"""Other people's builders and readers: what they write we read, and what we write they read."""

from __future__ import annotations

import aiokafka.codec
import aiokafka.record.default_records as aio
import kafka.codec
import kafka.record.default_records as kp
import pytest

from andiron.records.batch import Batch
from andiron.records.builder import build
from andiron.records.compression import NAMES
from andiron.records.record import Record, records_of
from andiron.records.validate import check_produced

NOW = 1_700_000_000_000
RECORDS = [
    Record(0, NOW, b"key", b"value", (("h", b"x"), ("h", b""), ("n", None), ("é", b"\xff"))),
    Record(1, NOW - 500, None, b"no key"),
    Record(2, NOW + 900, b"tombstone", None),
    Record(3, NOW, b"", b""),
    Record(4, NOW, b"long", b"abcdefgh" * 20_000),
    *(Record(n, NOW + n, b"key %d" % n, b"value %d" % n) for n in range(5, 400)),
]

# kafka-python has the codecs whose own libraries are installed beside it.
PEERS = [
    pytest.param(module, codec, id=f"{name}-{NAMES[codec]}")
    for name, module, has in [("aiokafka", aio, aiokafka.codec), ("kafka-python", kp, kafka.codec)]
    for codec in range(5)
    if codec == 0 or getattr(has, f"has_{NAMES[codec]}")()
]


@pytest.mark.parametrize(("peer", "codec"), PEERS)
def test_we_read_what_they_write(peer, codec):
    builder = peer.DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=1,
        producer_id=77,
        producer_epoch=2,
        base_sequence=31,
        batch_size=1 << 20,
    )
    for record in RECORDS:
        assert builder.append(record.offset, record.timestamp, record.key, record.value, list(record.headers))

    batch = check_produced(builder.build(), 1 << 20)

    assert list(records_of(batch)) == RECORDS
    assert (batch.codec, batch.is_transactional, batch.last_sequence) == (codec, True, 31 + 399)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (77, 2, 31)


@pytest.mark.parametrize(("peer", "codec"), PEERS)
def test_they_read_what_we_write(peer, codec):
    ours = build(RECORDS, base_offset=1000, codec=codec, producer_id=77, producer_epoch=2, base_sequence=31)

    theirs = peer.DefaultRecordBatch(bytes(ours))

    assert theirs.validate_crc()
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (77, 2, 31)
    assert theirs.compression_type == codec
    assert theirs.next_offset == Batch(ours).next_offset
    read = [(r.offset - 1000, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs]
    assert read == RECORDS


@pytest.mark.parametrize("peer", [aio, kp], ids=["aiokafka", "kafka-python"])
def test_unpacked_our_bytes_are_theirs(peer):
    builder = peer.DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for record in RECORDS:
        builder.append(record.offset, record.timestamp, record.key, record.value, list(record.headers))

    theirs = bytearray(builder.build())
    theirs[12:16] = b"\xff" * 4  # the leader epoch, which no producer knows, is not checked

    ours = build(RECORDS)
    assert ours == theirs
