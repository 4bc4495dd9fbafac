"""Which records are printed. Against a real node: tests/cli/test_consume.py."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from andiron.cli.main import andiron
from andiron.wire.apis import ApiKey
from unit.client.logs import Logs
from unit.client.scripted import ScriptedBroker


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as scripted:
        scripted.topic("t", partitions=2)
        yield scripted


@pytest.fixture(autouse=True)
def logs(broker: ScriptedBroker) -> Logs:
    made = Logs(broker)
    made.write(0, b"a", b"b", b"c")
    made.write(0, b"d", b"e")
    made.write(1, b"x")
    return made


def consume(broker: ScriptedBroker, *options: str) -> Any:
    return CliRunner().invoke(andiron, ["consume", "t", "-b", broker.bootstrap, *options])


def test_all_there_is_is_printed(broker: ScriptedBroker) -> None:
    assert consume(broker).stdout.split() == ["a", "b", "c", "d", "e", "x"]


def test_partitions_can_be_chosen(broker: ScriptedBroker) -> None:
    assert consume(broker, "--partition", "1").stdout == "x\n"
    assert consume(broker, "-p", "1", "-p", "0", "-p", "1").stdout.split() == ["x", "a", "b", "c", "d", "e"]


def test_a_partition_that_is_not_there_is_told(broker: ScriptedBroker) -> None:
    result = consume(broker, "-p", "2")

    assert result.exit_code == 1
    assert "t has partitions 0 to 1, not 2" in result.stderr


def test_a_range_is_kept_to(broker: ScriptedBroker) -> None:
    assert consume(broker, "-p", "0", "--from", "1", "--to", "-1").stdout.split() == ["b", "c", "d"]


def test_what_is_behind_an_open_transaction_is_left_out_and_told(broker: ScriptedBroker, logs: Logs) -> None:
    logs.stable[0] = 3
    committed, uncommitted = consume(broker), consume(broker, "--read-uncommitted")

    assert committed.stdout.split() == ["a", "b", "c", "x"]
    assert committed.stderr.startswith("a transaction is open in t:0: ")
    assert consume(broker, "--read-committed").stdout == committed.stdout
    assert uncommitted.stdout.split() == ["a", "b", "c", "d", "e", "x"]
    assert uncommitted.stderr == consume(broker, "--to", "2").stderr == ""
    assert [request.isolation_level for request in broker.requests("Fetch")] == [1, 0, 1, 1]


@pytest.mark.parametrize("count", range(7))
def test_a_count_ends_it(broker: ScriptedBroker, count: int) -> None:
    assert len(consume(broker, "--count", str(count)).stdout.split()) == min(count, 6)


def test_a_count_ends_it_also_when_following(broker: ScriptedBroker) -> None:
    assert consume(broker, "-p", "0", "--follow", "--count", "2").stdout.split() == ["a", "b"]


def test_an_interrupt_is_how_following_ends(broker: ScriptedBroker) -> None:
    logs_fetch = broker._scripts[ApiKey.FETCH][0]

    def interrupt(*_: object) -> bytes:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("andiron.cli.consume.renderer", lambda **options: interrupt)
        broker.on(ApiKey.FETCH, logs_fetch)
        assert consume(broker, "--follow").exit_code == 0
        assert consume(broker).exit_code == 130


@pytest.mark.parametrize(
    "options",
    [
        ["--json", "--keys"],
        ["--json", "--format", "%v"],
        ["--format", "%v", "--headers"],
        ["--format", "%q"],
        ["--from", "somewhere"],
        ["--count", "-1"],
    ],
)
def test_options_that_make_no_sense_are_wrong_usage(broker: ScriptedBroker, options: list[str]) -> None:
    assert consume(broker, *options).exit_code == 2
    assert broker.asked == []


def test_a_closed_stdout_is_a_line_on_stderr(broker: ScriptedBroker) -> None:
    done = subprocess.run(
        f"{sys.executable} -m andiron consume t -b {broker.bootstrap} >&-",
        shell=True, stdout=None, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr == "andiron: stdout is closed; there is nowhere to print to\n"
