"""`andiron kafka`: the way between a folder of ours and Apache Kafka."""

from __future__ import annotations

import os

import click

from andiron.broker.metadata.offline_metadata import read_offline_metadata
from andiron.broker.settings.property_file import parse_properties
from andiron.cli.failure import Failure
from andiron.cli.identity import identity_at
from andiron.cli.kafka_properties import for_kafka
from andiron.cli.local_cluster.layout import PROPERTIES, is_cluster
from andiron.cli.options import as_pairs, json_option
from andiron.cli.output import print_json
from andiron.edge.disk import PosixDisk


@click.group()
def kafka() -> None:
    """From a folder of a node to Apache Kafka, and back.

    A node keeps its records, its metadata and its coordinators' state in Kafka's files, so Kafka can take a folder over
    as it is. The way back is `andiron up --config` with the same file.
    """


@kafka.command()
@click.option(
    "--data",
    default="data",
    show_default=True,
    metavar="DIR[,DIR…]",
    help="The node's folder, or all of its log.dirs; the first one has the metadata unless --config says otherwise.",
)
@click.option(
    "--config", metavar="FILE", help="The server.properties with which the node was started, if any."
)
@click.option(
    "--set",
    "chosen",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting that was given to `andiron up`, or is to hold in Kafka; may be given again.",
)
@json_option
def properties(*, data: str, config: str | None, chosen: dict[str, str], as_json: bool) -> None:
    """Print the server.properties with which Kafka opens a node's folder.

    Comments in it say what Kafka does differently.

    Nothing is changed. Stop the node first (SIGTERM, Ctrl-C), then start Kafka with the file; back again, stop Kafka
    and start `andiron up --config` with it.

    \b
    Examples:
      andiron kafka properties --data /var/lib/andiron > kafka.properties
      andiron kafka properties --data cluster/node-1/data > node-1.properties
      andiron up --config kafka.properties
    """
    directories = [os.path.abspath(each) for each in data.split(",") if each.strip()]
    if not directories:
        raise click.UsageError("--data names no folder")
    owner = identity_at(directories[0])
    if owner is None:
        raise Failure(_no_node(directories[0]))
    given = _given(directories[0], config)
    metadata = {**(given or {}), **chosen}.get("metadata.log.dir") or directories[0]
    stored = read_offline_metadata(PosixDisk(), metadata)
    told = for_kafka(owner.node_id, directories, stored, given, chosen)
    if as_json:
        print_json({"properties": told.settings, "remarks": told.remarks})
        return
    head = [
        f"Opens the folder of node {owner.node_id}, cluster {owner.cluster_id}, in Apache Kafka 4.3 and in Andiron.",
        "Stop the one before you start the other: kafka-server-start.sh FILE, or andiron up --config FILE",
    ]
    click.echo(told.render(head), nl=False)


def _given(directory: str, config: str | None) -> dict[str, str] | None:
    """The settings that the node was started with: --config's, or those beside the data of `andiron up --brokers`."""
    beside = os.path.join(os.path.dirname(directory), PROPERTIES)
    path = config or (beside if is_cluster(os.path.dirname(os.path.dirname(directory))) else None)
    if path is None:
        return None
    with click.open_file(path, encoding="utf-8", errors="replace") as file:
        return parse_properties(file.read())


def _no_node(directory: str) -> str:
    if is_cluster(directory):
        return f"{directory} has a cluster in it; say which node: --data {os.path.join(directory, 'node-1', 'data')}"
    return f"{directory} is no node's folder: it has no meta.properties"
