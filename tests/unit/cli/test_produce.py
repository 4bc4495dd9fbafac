"""How lines become records, and what is said in the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from andiron.cli.failure import Failure
from andiron.cli.produce import produce, summary
from andiron.client.blocking.sender import DeliveryTotals
from andiron.model.ids import TopicPartition
from andiron.records.batch import Batch
from andiron.records.record import records_of
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture
def logs(broker: ScriptedBroker) -> Logs:
    return Logs(broker)


@pytest.fixture
def run(broker: ScriptedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    def run_with(stdin: bytes, *options: str) -> None:
        path = tmp_path / "stdin"
        path.write_bytes(stdin)
        with path.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            produce.main(["t", "-b", broker.bootstrap, *options], standalone_mode=False)

    return run_with


def test_every_line_is_written(run, logs: Logs, capfd: pytest.CaptureFixture[str]) -> None:
    run(b"one\ntwo\n\nfour", "--partition", "1")

    assert logs.values(1) == [b"one", b"two", b"", b"four"]
    told = capfd.readouterr().err
    assert "4 records" in told
    assert "partition 1: offsets 0 to 3" in told


def test_headers_are_added_to_every_record(run, logs: Logs) -> None:
    run(b"k:v\n", "--key-separator", ":", "--header", "h=1", "--partition", "0", "--quiet")

    (record,) = records_of(Batch(logs.batches[0][0]))
    assert (record.key, record.value, record.headers) == (b"k", b"v", (("h", b"1"),))


def test_json_lines_say_it_all(run, logs: Logs, capfd: pytest.CaptureFixture[str]) -> None:
    run(b'{"key": "k", "value": null, "partition": 1, "timestamp": 5}\n', "--json", "--quiet")

    (record,) = records_of(Batch(logs.batches[1][0]))
    assert (record.key, record.value, record.timestamp) == (b"k", None, 5)
    assert capfd.readouterr().err == ""


def test_a_bad_line_is_told_by_its_number_and_those_before_are_written(run, logs: Logs) -> None:
    with pytest.raises(Failure, match=r"line 2 of the input: not JSON.*the 1 before it are written"):
        run(b'{"value": "v", "partition": 0}\nx\n{"value": "w", "partition": 0}\n', "--json")

    assert logs.values(0) == [b"v"]


@pytest.mark.parametrize(
    "options",
    [
        ["--json", "--key-separator", ":"],
        ["--json", "--null-value", ""],
        ["--key-separator", ""],
        ["--acks", "2"],
    ],
)
def test_options_that_contradict_each_other_are_wrong_usage(run, options: list[str]) -> None:
    with pytest.raises(click.UsageError):
        run(b"", *options)


def test_the_summary_tells_offsets_by_partition() -> None:
    delivered = {
        TopicPartition("t", 1): DeliveryTotals(1, 70, 5, 6),
        TopicPartition("t", 0): DeliveryTotals(1199, 3000, 0, 1199),
    }

    assert summary("t", delivered, 0.25).splitlines() == [
        "1,200 records (3.0 KiB) to t in 0.2 s",
        "  partition 0: offsets 0 to 1198",
        "  partition 1: offsets 5 to 5",
    ]


def test_the_summary_of_many_partitions_is_short() -> None:
    delivered = {TopicPartition("t", number): DeliveryTotals(1, 1, 0, 1) for number in range(50)}

    assert summary("t", delivered, 1).splitlines()[-1] == "  and 38 partitions more"


def test_without_acks_there_are_no_offsets_to_tell() -> None:
    assert (
        summary("t", {TopicPartition("t", 0): DeliveryTotals(3, 9, -1, -1)}, 1)
        == "3 records (9 B) to t in 1.0 s"
    )


def test_ctrl_c_ends_with_what_was_written(
    run, logs: Logs, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def blocks(descriptor: int, pause_s: float) -> Iterator[bytes]:
        yield b"one\ntwo\n"
        yield b""
        raise KeyboardInterrupt

    monkeypatch.setattr("andiron.cli.produce.read_blocks", blocks)
    with pytest.raises((KeyboardInterrupt, click.Abort)):
        run(b"", "--partition", "0")

    told = capfd.readouterr().err
    assert "interrupted: 2 records" in told
    assert "partition 0: offsets 0 to 1" in told
