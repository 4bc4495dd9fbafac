"""`andiron files`: what comes with the installation beside the code, and copies of it to change.

Whoever has installed a wheel has no checkout to look into; the folders that the documentation names are inside the
package (andiron/shipped.py), where nobody would look for them.
"""

from __future__ import annotations

import os
import shutil

import click

from andiron import shipped
from andiron.cli.failure import Failure
from andiron.cli.options import json_option
from andiron.cli.output import columns, print_json


@click.group()
def files() -> None:
    """What comes with Andiron beside its code: pipelines, examples, files for production, documentation."""


@files.command("list")
@json_option
def list_files(as_json: bool) -> None:
    """List the folders there are, and where.

    \b
    Examples:
      andiron files list
      less "$(andiron files list --json | jq -r '.[] | select(.name == "docs").folder')"/settings.md
    """
    if as_json:
        print_json(
            [
                {"name": name, "folder": shipped.folder(name), "about": about}
                for name, about in shipped.FOLDERS.items()
            ]
        )
    else:
        rows = [(name, about, shipped.folder(name)) for name, about in shipped.FOLDERS.items()]
        click.echo(columns(("NAME", "ABOUT", "FOLDER"), rows))


@files.command()
@click.argument("name", type=click.Choice(list(shipped.FOLDERS)))
@click.argument("to", required=False, metavar="[DIR]", type=click.Path(file_okay=False))
@json_option
def copy(name: str, to: str | None, as_json: bool) -> None:
    """Copy a folder to one of your own.

    It is ./NAME by default, and must not be there yet.

    \b
    Examples:
      andiron files copy deploy
      andiron files copy pipelines ~/jobs
    """
    target = to or name
    if os.path.exists(target):
        raise Failure(f"{target} is there already; name another folder: andiron files copy {name} DIR")
    shutil.copytree(shipped.folder(name), target, ignore=shutil.ignore_patterns(*shipped.LEFT_BEHIND))
    if as_json:
        print_json({"name": name, "folder": os.path.abspath(target)})
    else:
        click.echo(f"{name} is copied to {target}")
