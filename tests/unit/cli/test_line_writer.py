"""Lines become records, however many there are."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import pytest

from andiron.cli import line_writer
from andiron.cli.json_records import JsonRecord, decode_record
from andiron.cli.line_writer import LineWriter, Plain
from andiron.cli.lines import LineError
from andiron.client.blocking.client import Client
from andiron.client.blocking.sender import DeliveryTotals
from andiron.client.settings import ProducerSettings
from andiron.model.ids import TopicPartition
from andiron.wire.apis import ApiKey
from andiron.wire.messages.init_producer_id import InitProducerIdResponse
from unit.client.logs import PRODUCER_ID, Logs
from unit.client.scripted import ScriptedBroker

BLOCKS = [b"one\ntwo\n", b"three\n", b"four\nfive"]
VALUES = [b"one", b"two", b"three", b"four", b"five"]


@pytest.fixture
def client() -> Iterator[Client]:
    with ScriptedBroker() as broker, Client(broker.bootstrap) as made:
        broker.topic("t", partitions=1)
        made.logs = Logs(broker)  # type: ignore[attr-defined]
        epochs = itertools.count()  # each producer has sequences of its own
        broker.on(
            ApiKey.INIT_PRODUCER_ID, lambda request: InitProducerIdResponse(0, 0, PRODUCER_ID, next(epochs))
        )
        yield made


def written(client: Client, lines: object, blocks: list[bytes], **how: object) -> LineWriter:
    writer = LineWriter(client, ProducerSettings(), "t", lines, **how)  # type: ignore[arg-type]
    for block in blocks:
        writer.write(block)
    writer.flush()
    writer.close()
    return writer


def test_a_line_is_a_value() -> None:
    assert Plain(None, None).read(b"a:b") == JsonRecord(None, b"a:b", (), None, None)


def test_a_separator_splits_off_the_key_once() -> None:
    plain = Plain(b"::", None)

    assert plain.read(b"k::v::w")[:2] == (b"k", b"v::w")
    with pytest.raises(LineError, match="no key separator '::'"):
        plain.read(b"k:v")


def test_a_value_may_stand_for_null() -> None:
    assert Plain(b":", b"").read(b"k:")[:2] == (b"k", None)
    assert Plain(b":", b"").read(b"k:v")[:2] == (b"k", b"v")
    assert Plain(b":", None).read(b"k:")[:2] == (b"k", b"")


@pytest.mark.parametrize("many", [0, 9, 1 << 20])
def test_the_records_are_the_same_whether_they_are_few_or_many(client, monkeypatch, many: int) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(line_writer, "COLUMNS_FROM", many)
    writer = written(client, Plain(None, None), BLOCKS)

    assert client.logs.values(0) == VALUES
    assert writer.lines == 5
    told = writer.delivered[TopicPartition("t", 0)]
    assert (told.records, told.first, told.next) == (5, 0, 5)
    assert not writer.is_owing
    if many < 1 << 20:
        assert type(writer._producers[-1]).__name__ == "ColumnProducer"


def test_without_pyarrow_it_goes_on_line_by_line(client, monkeypatch) -> None:
    monkeypatch.setattr(line_writer, "COLUMNS_FROM", 0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "andiron.cli.line_columns", raising=False)
    writer = written(client, Plain(None, None), BLOCKS)

    assert client.logs.values(0) == VALUES
    assert len(writer._producers) == 1


@pytest.mark.parametrize("many", [0, 1 << 20])
def test_all_lines_before_one_that_is_no_record_are_handed_on(client, monkeypatch, many: int) -> None:
    monkeypatch.setattr(line_writer, "COLUMNS_FROM", many)
    writer = LineWriter(client, ProducerSettings(), "t", Plain(b":", None))
    writer.write(b"k:one\n")
    with pytest.raises(LineError):
        writer.write(b"k:two\nk:three\nfour\nk:five\n")
    writer.flush()

    assert client.logs.values(0) == [b"one", b"two", b"three"]
    assert writer.lines == 3


def test_json_and_headers_go_record_by_record(client, monkeypatch) -> None:
    monkeypatch.setattr(line_writer, "COLUMNS_FROM", 0)
    by_json = written(client, decode_record, [b'{"value": "a"}\n'])
    with_headers = written(client, Plain(None, None), [b"b\n"], common=(("h", b"1"),))

    assert client.logs.values(0) == [b"a", b"b"]
    assert len(by_json._producers) == len(with_headers._producers) == 1
    assert by_json.delivered == {
        TopicPartition("t", 0): DeliveryTotals(1, by_json.delivered["t", 0].bytes, 0, 1)
    }
