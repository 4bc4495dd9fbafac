"""`andiron log`: look into the files of a stopped node, and check that they hold."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import click

from andiron.cli.dump import DataFile, Kind, data_file, data_files
from andiron.cli.dump_rows import as_text, rows
from andiron.cli.failure import Failure
from andiron.cli.mend import mend
from andiron.cli.options import json_option
from andiron.cli.output import print_json
from andiron.cli.verify import verify_directory

PROBLEMS_FOUND = 1
_INDEXES = (Kind.OFFSET_INDEX, Kind.TIME_INDEX, Kind.ABORT_INDEX)

folder_or_file = click.Path(exists=True, readable=True)


@click.group()
def log() -> None:
    """The files of a stopped node: what is in them, and whether it holds.

    Andiron keeps its logs in Kafka's format, so these commands read Apache Kafka's folders just as well. None of
    them writes, but for `mend --execute`.
    """


log.add_command(mend)


@log.command()
@click.argument("path", type=folder_or_file)
@click.option("--records", is_flag=True, help="Open the batches and show every record.")
@click.option("--indexes", is_flag=True, help="Of a folder, also its indexes.")
@json_option
def dump(path: str, records: bool, indexes: bool, as_json: bool) -> None:
    """Show what a file or folder holds: batches, indexes, snapshots, checkpoints.

    Of __cluster_metadata the records are shown in any case, in words. With --json every line is an object. The exit
    code is 1 if there is nothing to show, or something that cannot be read. Kafka's tool for this is kafka-dump-log.

    \b
    Examples:
      andiron log dump data/orders-0
      andiron log dump data/orders-0/00000000000000000000.log --records
      andiron log dump data/__cluster_metadata-0 --json | jq -c '.metadata // empty'
    """
    seen = problems = 0
    for file in _files(path, indexes):
        seen += 1
        if not as_json:
            state = f" ({file.state[1:]})" if file.state else ""
            click.echo(f"{file.path}: {file.kind.value}{state}")
        for row in rows(file, records=records):
            problems += row["type"] == "problem"
            click.echo(
                json.dumps({"file": file.path, **row}, ensure_ascii=False) if as_json else f"  {as_text(row)}"
            )
    if not seen:
        raise Failure(
            f"{path} has no file of a node's in it; those of a partition look like orders-0/{0:020d}.log"
        )
    if problems:
        raise click.exceptions.Exit(PROBLEMS_FOUND)


@log.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, readable=True))
@json_option
def verify(directory: str, as_json: bool) -> None:
    """Check a data folder, a partition's folder, or a local cluster's.

    The exit code is 0 if all holds, and 1 if something does not.

    Every batch is read and held against its checksum; offsets and epochs must rise, index entries point at
    batches, snapshots be whole, checkpoints lie within their logs. Notes tell what is not wrong but worth
    knowing, such as an index that a start will have to build.

    \b
    Examples:
      andiron log verify data
      andiron log verify data/orders-0 --json

    A folder in which there is nothing of a node's is not said to hold: exit code 1.
    """
    report = verify_directory(directory)
    if as_json:
        print_json(report.as_json())
    else:
        click.echo(report.as_text())
    if report.problems:
        raise click.exceptions.Exit(PROBLEMS_FOUND)


def _files(path: str, indexes: bool) -> Iterator[DataFile]:
    """The log files at a path: the file itself, or all files of a folder and of the folders in it."""
    if not os.path.isdir(path):
        yield data_file(path)
        return
    for file in data_files(path):
        if file.kind is not Kind.UNKNOWN and (indexes or file.kind not in _INDEXES):
            yield file
    for entry in sorted(os.listdir(path)):
        inner = os.path.join(path, entry)
        if os.path.isdir(inner):
            yield from _files(inner, indexes)
