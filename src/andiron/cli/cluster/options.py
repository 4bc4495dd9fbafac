"""Options of `andiron cluster`, and how their values are read: brokers as 1,2,3 and rates as 50MB.

Who looks how a cluster is wants to hear soon that nobody leads it (`A_LOOK`); who changes something can wait."""

from __future__ import annotations

import re

import click

from andiron.client.settings import ClientSettings
from andiron.model.errors import AndironError

A_LOOK = ClientSettings(
    request_timeout_ms=6_000, default_api_timeout_ms=5_000
)  # brokers look for 3 s themselves
_RATE = re.compile(r"(\d{1,15})\s*(|k|m|g)(i?b)?(/s)?", re.IGNORECASE)
_SCALE = {"": 0, "k": 1, "m": 2, "g": 3}


class OptionError(AndironError):
    """The text of an option that is no rate, or no list of broker ids."""


def parse_rate(text: str) -> int:
    """Bytes a second: 1000000, 500KB, 50MB, 1GiB/s; units of 1024 where there is an i."""
    match = _RATE.fullmatch(text.strip())
    if not match or (match[2] and not match[3] and match[4]):
        raise OptionError(f"{text!r} is not a rate such as 1000000, 500KB or 50MB")
    base = 1024 if (match[3] or "").lower().startswith("i") else 1000
    rate = int(match[1]) * int(base ** _SCALE[match[2].lower()])
    if not rate:
        raise OptionError("a rate of 0 would never come to an end")
    return rate


def parse_broker_ids(text: str) -> list[int]:
    """1,2,3."""
    parts = [each.strip() for each in text.split(",")]
    if not all(each.isascii() and each.isdecimal() for each in parts):
        raise OptionError(f"{text!r} is not a list of brokers such as 1,2,3")
    ids = list(map(int, parts))
    if len(set(ids)) < len(ids):
        raise OptionError(f"{text!r} names a broker twice")
    return ids


def as_rate(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A rate, in bytes a second."""
    try:
        return None if text is None else parse_rate(text)
    except OptionError as error:
        raise click.BadParameter(str(error), context, parameter) from error


def as_broker_ids(context: click.Context, parameter: click.Parameter, text: str | None) -> list[int] | None:
    """Brokers by their ids."""
    try:
        return None if text is None else parse_broker_ids(text)
    except OptionError as error:
        raise click.BadParameter(str(error), context, parameter) from error


throttle_option = click.option(
    "--throttle",
    callback=as_rate,
    metavar="RATE",
    help="The most to copy in a second on each broker: 1000000, 500KB, 50MB.",
)
