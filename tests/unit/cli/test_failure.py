"""Whatever goes wrong becomes one line, with advice where there is some."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from andiron.cli.failure import INTERRUPTED, Failure, explain, in_one_line
from andiron.model.errors import AndironError, ErrorCode


def failing(error: BaseException) -> None:
    def run() -> None:
        raise error

    in_one_line(run)


def test_a_protocol_error_is_told_without_its_name() -> None:
    assert explain(ErrorCode.INVALID_PARTITIONS.error("too few")) == "too few"


def test_advice_follows_where_there_is_some() -> None:
    told = explain(ErrorCode.BROKER_NOT_AVAILABLE.error("localhost:1: no connection"))

    assert told.startswith("localhost:1: no connection; start a node with `andiron up`")


def test_several_lines_become_one() -> None:
    assert explain(AndironError("one\n  two")) == "one two"
    assert explain(ErrorCode.INVALID_REQUEST.error("one\n two.")) == "one two"


def test_a_file_is_named() -> None:
    assert explain(FileNotFoundError(2, "No such file", "x.log")) == "x.log: no such file"
    assert explain(OSError(28, "No space left")) == "no space left"


@pytest.mark.parametrize(
    "error", [AndironError("x"), OSError(5, "x"), ErrorCode.NETWORK_EXCEPTION.error("x")]
)
def test_what_was_foreseen_is_a_failure(error: Exception) -> None:
    with pytest.raises(Failure) as caught:
        failing(error)
    assert caught.value.exit_code == 1


def test_what_was_not_foreseen_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError())


def test_an_interrupt_is_the_shells_130() -> None:
    with pytest.raises(click.exceptions.Exit) as caught:
        failing(KeyboardInterrupt())
    assert caught.value.exit_code == INTERRUPTED


def test_a_result_is_passed_on() -> None:
    assert in_one_line(lambda: 7) == 7


def test_a_reader_that_went_away_is_no_failure() -> None:
    program = "from andiron.cli.failure import in_one_line\nimport click, sys\n" + "\n".join(
        [
            "@click.command()",
            "def talk():",
            "    def run():",
            "        while True: click.echo('x' * 1000)",
            "    in_one_line(run)",
            "talk()",
        ]
    )
    reading, writing = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.read(reading, 100)
    os.close(reading)

    assert process.communicate()[1] == b""
    assert process.returncode == 0
