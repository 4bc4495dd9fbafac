"""A group of commands whose modules are loaded when a command is called, and not before.

A node must be ready within half a second of its process's start, and `andiron consume` should not have
loaded a broker. So the group knows of each command only where it is and what its help says first.

A command may need what only an extra of the installation brings; whoever calls it without is told which, and its help
says so too. A name that is no command gets the one that it is most like.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from andiron.cli.failure import Failure

# What is missing, and the extra that brings it.
EXTRAS = {
    "numpy": "arrow",
    "pyarrow": "arrow",
    "deltalake": "spark",
    "pandas": "spark",
    "pyspark": "spark",
}


class Place(NamedTuple):
    """Where a command is, and what it does in a few words."""

    module: str
    attribute: str
    summary: str


class LazyGroup(click.Group):
    """Commands by name."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._places = dict(places)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self._places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded now."""
        place = self._places.get(cmd_name)
        if place is None:
            return None
        try:
            command: click.Command = getattr(import_module(place.module), place.attribute)
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            return _without_extra(
                cmd_name, place, f"{error.name} is not installed: pip install 'andiron[{extra}]'"
            )
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant by the first word."""
        if args and args[0] not in self._places and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self._places, n=1)
            ctx.fail(f"No such command {args[0]!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in self._places.items()])


def _without_extra(name: str, place: Place, missing: str) -> click.Command:
    """A stand-in for a command whose extra is not installed: it has a help, and fails with what to install."""

    def fail() -> None:
        raise Failure(missing)

    return click.Command(
        name,
        callback=fail,
        help=f"{place.summary}\n\n{missing}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
