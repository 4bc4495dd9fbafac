"""Options read once for all commands."""

from __future__ import annotations

import click
import pytest

from andiron.cli.options import as_duration, as_pairs, as_time


def read(*values: str) -> dict[str, str]:
    command = click.Command("x", params=[click.Option(["--set"], multiple=True)])
    return as_pairs(click.Context(command), command.params[0], values)


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert read("a=1", "b=x=y", "c=") == {"a": "1", "b": "x=y", "c": ""}


def test_the_last_of_a_name_wins() -> None:
    assert read("a=1", "a=2") == {"a": "2"}


@pytest.mark.parametrize("text", ["a", "=1", " =1"])
def test_what_is_no_pair_is_wrong_usage(text: str) -> None:
    with pytest.raises(click.BadParameter, match="name=value"):
        read(text)


def test_times_and_durations_are_milliseconds() -> None:
    command = click.Command("x", params=[click.Option(["--at"])])
    context, parameter = click.Context(command), command.params[0]

    assert as_time(context, parameter, "@5") == 5
    assert as_duration(context, parameter, "5s") == 5000
    assert as_time(context, parameter, None) is as_duration(context, parameter, None) is None
    with pytest.raises(click.BadParameter, match="not a time"):
        as_time(context, parameter, "soon")
    with pytest.raises(click.BadParameter, match="not a duration"):
        as_duration(context, parameter, "long")
