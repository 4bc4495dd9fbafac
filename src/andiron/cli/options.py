"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import click

from andiron.cli.times import TimeError, now_ms, parse_duration, parse_time

bootstrap_option = click.option(
    "--bootstrap",
    "-b",
    envvar="ANDIRON_BOOTSTRAP",
    default="localhost:9092",
    show_default=True,
    show_envvar=True,
    metavar="HOST:PORT[,…]",
    help="A broker of the cluster, or several in case one is down.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def as_pairs(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`name=value`, each once or more often; a value may be empty and may hold further equals signs."""
    pairs: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r} is not of the form name=value", context, parameter)
        pairs[name.strip()] = value
    return pairs


def as_time(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A time, in ms since 1970."""
    try:
        return None if text is None else parse_time(text, now_ms())
    except TimeError as error:
        raise click.BadParameter(str(error), context, parameter) from error


def as_duration(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A duration, in ms."""
    try:
        return None if text is None else parse_duration(text)
    except TimeError as error:
        raise click.BadParameter(str(error), context, parameter) from error
