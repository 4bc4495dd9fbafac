"""A group of commands whose modules are loaded when a command is called, and not before.

A node must be ready within half a second of its process's start, and `andiron consume` should not have
loaded a broker. So the group knows of each command only where it is and what its help says first.

A command may need what only an extra of the installation brings; whoever calls it without is told which.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from andiron.cli.failures import Failure

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
            raise Failure(f"{error.name} is not installed: pip install 'andiron[{extra}]'") from error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.summary) for name, place in self._places.items()])
