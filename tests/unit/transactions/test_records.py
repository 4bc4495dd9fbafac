"""The records of `__transaction_state`, byte for byte as Kafka 4.3.1 writes them."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode
from andiron.transactions.records import (
    PartitionsSchema,
    TransactionLogValue,
    TransactionRecord,
    decode_record,
    encode_record,
)
from worlds.transacting import refusal

KEY = bytes.fromhex("000000027478")  # version 0, "tx"

IN_VERSION_0 = bytes.fromhex(
    "0000000000000000000700030000ea60010000000200016100000002000000000000000100026263000000010000000500000000"
    "000007d000000000000003e8"
)
IN_VERSION_1 = bytes.fromhex(
    "0001000000000000000700030000ea60010302610300000000000000010003626302000000050000000000000007d00000000000"
    "0003e800"
)
WITH_ALL_TAGS = bytes.fromhex(
    "0001000000000000000700030000ea60010302610300000000000000010003626302000000050000000000000007d00000000000"
    "0003e80400080000000000000006010800000000000000080202000203020004"
)
EMPTY = bytes.fromhex(
    "0001000000000000000700000000ea60000000000000000007d0ffffffffffffffff0100080000000000000007"
)


def ongoing(**tags: int) -> TransactionLogValue:
    partitions = [PartitionsSchema("a", [0, 1]), PartitionsSchema("bc", [5])]
    return TransactionLogValue(7, 3, 60_000, 1, partitions, 2_000, 1_000, **tags)


ALL_TAGS = {
    "previous_producer_id": 6,
    "next_producer_id": 8,
    "client_transaction_version": 2,
    "next_producer_epoch": 4,
}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (ongoing(), IN_VERSION_1),
        (ongoing(**ALL_TAGS), WITH_ALL_TAGS),
        (TransactionLogValue(7, 0, 60_000, 0, None, 2_000, -1, previous_producer_id=7), EMPTY),
    ],
    ids=["plain", "all tags", "empty"],
)
def test_a_record_is_written_as_kafka_writes_it_and_read_back(value, written):
    record = TransactionRecord("tx", value)

    assert encode_record(record) == (KEY, written)
    assert decode_record(KEY, written) == record


def test_what_an_older_kafka_wrote_is_read():
    assert decode_record(KEY, IN_VERSION_0) == TransactionRecord("tx", ongoing())


def test_a_record_without_a_value_forgets_its_id():
    assert decode_record(KEY, None) == TransactionRecord("tx", None)


def test_a_key_of_another_version_is_passed_over():
    assert decode_record(b"\0\1\0\0", IN_VERSION_1) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, IN_VERSION_1),
        (b"\0", IN_VERSION_1),
        (KEY[:-1], IN_VERSION_1),
        (KEY, b""),
        (KEY, IN_VERSION_1[:-2]),
        (KEY, b"\0\2" + IN_VERSION_1[2:]),
        (KEY, b"\xff\xff" + IN_VERSION_1[2:]),
    ],
)
def test_what_is_no_record_is_corrupt(key, value):
    assert refusal(decode_record, key, value) is ErrorCode.CORRUPT_MESSAGE
