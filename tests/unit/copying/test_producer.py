"""Batches written once, each at its offset, whoever sends them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from andiron.client.blocking.producer import Producer
from andiron.copying.errors import CopyError
from andiron.copying.producer import CopyProducer
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.records.builder import build
from andiron.records.record import Record

if TYPE_CHECKING:
    from unit.copying.conftest import Both


def batch(*values: bytes) -> tuple[bytearray, int]:
    return build([Record(0, 1, None, value) for value in values]), len(values)


def test_what_a_killed_process_had_sent_is_not_written_again(both: Both) -> None:
    with CopyProducer(both.source.client) as first:
        first.begin(both.partition, 0)
        first.put(both.partition, *batch(b"a", b"b"))
        first.put(both.partition, *batch(b"c"))

    with CopyProducer(both.source.client, first.identity) as second:
        second.begin(both.partition, 0)
        second.put(both.partition, *batch(b"a", b"b"))
        second.put(both.partition, *batch(b"c"))
        second.put(both.partition, *batch(b"d"))

    assert [each.value for each in both.there(both.source)] == [b"a", b"b", b"c", b"d"]


def test_a_batch_cut_otherwise_is_refused(both: Both) -> None:
    with CopyProducer(both.source.client) as first:
        first.begin(both.partition, 0)
        first.put(both.partition, *batch(b"a", b"b"))

    second = CopyProducer(both.source.client, first.identity)
    second.begin(both.partition, 0)
    second.put(both.partition, *batch(b"a"))
    with pytest.raises(ProtocolError) as error:
        second.flush()
    second.close()

    assert error.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert len(both.there(both.source)) == 2


def test_a_batch_that_comes_to_lie_elsewhere_says_that_another_writes(both: Both) -> None:
    producer = CopyProducer(both.source.client)
    producer.begin(both.partition, 0)
    with Producer(both.source.client) as another:
        another.send(both.topic, b"mine")
    producer.put(both.partition, *batch(b"a"))

    with pytest.raises(CopyError, match="somebody else writes"):
        producer.flush()
    producer.close()
