"""From `andiron up --brokers` to its nodes: lay them out, check what they will be told, write it, look after them.

What is wrong with the settings is told before anything is written.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

import click

from andiron import __version__
from andiron.broker.settings.node_settings import NodeSettings
from andiron.cli.failure import Failure
from andiron.cli.hints import listening, say_how_to_talk
from andiron.cli.local_cluster.child import Child, command
from andiron.cli.local_cluster.folder import ClusterFolder, is_free
from andiron.cli.local_cluster.layout import Layout, lay_out
from andiron.cli.local_cluster.status import Watcher
from andiron.cli.local_cluster.supervisor import Supervisor
from andiron.cli.output import plural
from andiron.cli.screen import Screen


def start_cluster(
    brokers: int, data: str, host: str, port: int, chosen: Mapping[str, str], *, metrics: int | None = None,
    controllers: int | None = None, restart: bool, quiet: bool, log_format: str = "text",
) -> int:  # fmt: skip
    """Run a cluster until a signal ends it; the exit code."""
    folder = ClusterFolder(data)
    folder.check(brokers)
    at = listening(host)
    if not is_free(0, at):
        raise Failure(f"{host} is no address of this machine; choose another --host")
    layout = lay_out(
        brokers, port, folder.voters(), lambda port: is_free(port, at), at or socket.gethostname(), at, metrics,
        controllers,
    )  # fmt: skip
    for node in layout.nodes:
        NodeSettings.load(layout.properties(node, folder.data_of(node), chosen))
    folder.write(layout, chosen)
    supervisor = Supervisor(
        [
            Child(
                each.id, command(folder.properties_of(each), "--log-format", log_format), folder.log_of(each)
            )
            for each in layout.nodes
        ],
        Watcher(layout.bootstrap, brokers),
        Screen(quiet=quiet),
        voters=list(layout.voters),
        restart=restart,
        announce=lambda: None if quiet else announce(layout, folder.path),
    )
    code = supervisor.run()
    if not code and not quiet:
        click.echo("andiron: stopped; everything is on the disk", err=True)
    return code


def announce(layout: Layout, folder: str) -> None:
    """Where the nodes listen, where the data is, where to look when something is wrong, and how to talk to them."""
    nodes = plural(len(layout.nodes), "node serves", "nodes serve")
    click.echo(f"andiron {__version__}: {nodes} {layout.bootstrap}")
    click.echo(f"records are kept in {folder}/node-*/data, logs in {folder}/node-*/andiron.log")
    click.echo(f"the controllers talk on {', '.join(layout.controllers)}")
    click.echo(f"metrics are at {', '.join(layout.metrics)}\n")
    say_how_to_talk(*layout.addresses)
