"""name=value, read once for all commands."""

from __future__ import annotations

import click
import pytest

from andiron.cli.options import as_pairs


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
