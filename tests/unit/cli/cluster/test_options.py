"""Brokers and rates, as people write them."""

from __future__ import annotations

import click
import pytest

from andiron.cli.cluster.options import OptionError, as_broker_ids, as_rate, parse_broker_ids, parse_rate

CONTEXT, OPTION = click.Context(click.Command("c")), click.Option(["--x"])


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1000", 1000),
        ("500KB", 500_000),
        ("50mb", 50_000_000),
        ("50MB/s", 50_000_000),
        ("1GiB", 1 << 30),
        ("2M", 2_000_000),
    ],
)
def test_a_rate_is_read(text: str, rate: int) -> None:
    assert parse_rate(text) == rate
    assert as_rate(CONTEXT, OPTION, text) == rate


@pytest.mark.parametrize("text", ["", "fast", "-1", "0", "5 parsecs"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(OptionError):
        parse_rate(text)
    with pytest.raises(click.BadParameter):
        as_rate(CONTEXT, OPTION, text)


def test_brokers_are_read_in_their_order() -> None:
    assert parse_broker_ids("3, 1,2") == [3, 1, 2]
    assert as_broker_ids(CONTEXT, OPTION, "7") == [7]
    assert as_broker_ids(CONTEXT, OPTION, None) is as_rate(CONTEXT, OPTION, None) is None


@pytest.mark.parametrize("text", ["", "1,,2", "one", "1,1", "-1"])
def test_what_are_no_brokers_is_refused(text: str) -> None:
    with pytest.raises(OptionError):
        parse_broker_ids(text)
    with pytest.raises(click.BadParameter):
        as_broker_ids(CONTEXT, OPTION, text)
