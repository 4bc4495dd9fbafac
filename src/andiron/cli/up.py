"""`andiron up`: settings gathered from the command line and a file, then a node in this process.

    a node by itself, or --config FILE ──▶ --data, --fsync, --set ──▶ NodeSettings ──▶ edge.main.run

What comes later in this line wins.
"""

from __future__ import annotations

import logging
import os
import socket

import click

from andiron import __version__
from andiron.broker.listeners import EVERYWHERE, bracketed
from andiron.broker.node_settings import NodeSettings
from andiron.broker.properties import parse_properties
from andiron.cli.options import as_pairs
from andiron.edge.main import LOG_FORMAT, run

DEFAULT_HOST, DEFAULT_PORT, DEFAULT_DATA = "localhost", 9092, "data"

HOW_TO_TALK = """\
  kcat       kcat -b {address} -L
  Python     from confluent_kafka import Producer; p = Producer({{"bootstrap.servers": "{address}"}})
  andiron    echo hello | andiron produce {option}greetings && andiron consume {option}greetings"""


@click.command()
@click.option("--data", metavar="DIR", help=f"Where records are kept.  [default: {DEFAULT_DATA}]")
@click.option(
    "--port",
    type=click.IntRange(0, 65534),
    help=f"Where clients connect; the controller's is the next port.  [default: {DEFAULT_PORT}]",
)
@click.option("--host", help=f"The name or address to listen on, 0.0.0.0 for all.  [default: {DEFAULT_HOST}]")
@click.option("--config", metavar="FILE", help="Kafka's server.properties.")
@click.option(
    "--set",
    "chosen",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting under Kafka's name; may be given again.",
)
@click.option(
    "--fsync",
    is_flag=True,
    help="Acknowledge records when they are on the disk (log.flush.interval.messages=1).",
)
@click.option("--quiet", is_flag=True, help="Print problems only.")
def up(
    *,
    data: str | None,
    port: int | None,
    host: str | None,
    config: str | None,
    chosen: dict[str, str],
    fsync: bool,
    quiet: bool,
) -> None:
    """Start a node: a broker and a controller in one process, for any Kafka client.

    It keeps its records in a folder, in Kafka's own format, and is ready in less than a second. Ctrl-C or
    SIGTERM stops it with everything flushed. The settings are Kafka's; docs/settings.md lists them.

    \b
    Examples:
      andiron up
      andiron up --data /var/lib/andiron --port 9092 --set log.retention.hours=24
      andiron up --config server.properties
    """
    if config is None:
        given = node_by_itself(host or DEFAULT_HOST, DEFAULT_PORT if port is None else port)
        given["log.dirs"] = os.path.abspath(data or DEFAULT_DATA)
    elif port is not None or host is not None:
        raise click.UsageError("--config names the listeners; to change them say --set listeners=…")
    else:
        with click.open_file(config, encoding="utf-8", errors="replace") as file:
            given = parse_properties(file.read())
        if data is not None:
            given["log.dirs"] = os.path.abspath(data)
    if fsync:
        given["log.flush.interval.messages"] = "1"
    settings = NodeSettings.load({**given, **chosen}, socket.gethostname())
    raise click.exceptions.Exit(_run(settings, quiet))


def node_by_itself(host: str, port: int) -> dict[str, str]:
    """The settings of a node that is broker and controller, the latter one port above the former."""
    at = "" if host in (*EVERYWHERE, "*") else bracketed(host)
    return {
        "node.id": "1",
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://{at}:{port},CONTROLLER://{at}:{port + 1 if port else 0}",
        "controller.listener.names": "CONTROLLER",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.two.phase.commit.enable": "true",  # for Spark's exactly-once sink; nobody has to be kept out
    }


def _run(settings: NodeSettings, quiet: bool) -> int:
    if quiet:
        logging.basicConfig(level=logging.WARNING, format=LOG_FORMAT)
        return run(settings)
    code = run(settings, announce=_announce)
    if not code:
        click.echo("andiron: stopped; everything is on the disk", err=True)
    return code


def _announce(settings: NodeSettings) -> None:
    """Where it listens, where the data is, and how to talk to it."""
    listener = settings.advertised[0]
    address = f"{bracketed(listener.host)}:{listener.port}"
    option = "" if address == f"{DEFAULT_HOST}:{DEFAULT_PORT}" else f"-b {address} "
    click.echo(f"andiron {__version__}: node {settings.node_id} serves {address}")
    click.echo(f"records are kept in {', '.join(settings.log_dirs)}\n")
    click.echo(HOW_TO_TALK.format(address=address, option=option))
    click.echo("\nCtrl-C stops it.")
