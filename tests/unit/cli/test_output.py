"""Columns line up, sizes and numbers read well."""

from __future__ import annotations

import pytest

from andiron.cli.output import Silence, WaitingNote, columns, human_bytes, plural
from andiron.model.errors import ErrorCode


def test_numbers_are_aligned_to_the_right_and_words_to_the_left() -> None:
    assert columns(("NAME", "N"), [("a", 10), ("long name", 5)]) == "\n".join(
        ["NAME        N", "a          10", "long name   5"]
    )


def test_a_column_with_a_word_among_numbers_is_words() -> None:
    assert columns(("N",), [(10,), ("?",)]) == "N\n10\n?"


def test_what_is_not_known_may_stand_among_numbers() -> None:
    assert columns(("N",), [(10,), (None,)]) == " N\n10\n -"
    assert columns(("N",), [(None,)]) == "N\n-"


def test_no_rows_are_a_head() -> None:
    assert columns(("A", "B"), []) == "A  B"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (5 << 30, "5.0 GiB"),
        (1 << 50, "1024.0 TiB"),
    ],
)
def test_a_size_has_the_unit_that_suits_it(count: int, text: str) -> None:
    assert human_bytes(count) == text


def test_counts_agree_with_their_nouns() -> None:
    assert plural(1, "record") == "1 record"
    assert plural(1200, "record") == "1,200 records"
    assert plural(2, "batch", "batches") == "2 batches"


def test_what_is_waited_for_is_said_when_it_takes_long_and_now_and_then_if_it_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    times = [0.0]
    waiting = WaitingNote("t is created", 1.0, lambda: times[-1])
    for missing, time in (
        ("broker 1", 0.5),
        ("broker 2", 1.5),
        ("broker 4", 1.6),
        ("broker 2", 3),
        ("broker 3", 4),
    ):
        times.append(time)
        waiting(missing)

    assert capsys.readouterr().err.splitlines() == [
        "t is created; waiting: broker 2",
        "t is created; waiting: broker 3",
    ]


def test_a_silent_broker_is_told_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    silence = Silence("its part is missing")
    for broker in (2, 3, 2):
        silence(broker, ErrorCode.NETWORK_EXCEPTION.error("b:9092: no connection"))

    assert silence.brokers == [2, 3]
    assert capsys.readouterr().err.splitlines()[1:] == [
        "no answer from broker 3 (b:9092: no connection): its part is missing"
    ]
