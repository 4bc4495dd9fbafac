"""How to talk to what was started, in commands that can be pasted."""

from __future__ import annotations

import pytest

from andiron.cli.hints import listening, say_how_to_talk


def test_a_cluster_is_told_by_all_its_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    say_how_to_talk("localhost:9092", "localhost:9093")
    said = capsys.readouterr().out

    assert "kcat -b localhost:9092,localhost:9093 -L" in said
    assert "andiron produce greetings" in said
    assert said.endswith("Ctrl-C stops it.\n")


def test_elsewhere_the_commands_say_where(capsys: pytest.CaptureFixture[str]) -> None:
    say_how_to_talk("other:1")

    assert "andiron produce -b other:1 greetings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("host", "at"), [("0.0.0.0", ""), ("*", ""), ("::", ""), ("::1", "[::1]"), ("a", "a")]
)
def test_every_address_is_no_address(host: str, at: str) -> None:
    assert listening(host) == at
