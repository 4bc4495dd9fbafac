"""`andiron up`: settings gathered from the command line and a file, then a node in this process.

    a node by itself, or --config FILE ──▶ --data, --fsync, --set ──▶ NodeSettings ──▶ edge.main.run

What comes later in this line wins. With --brokers the settings are written into a file for each node, each
node is a process of its own, and this one looks after them (local_cluster/).
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from importlib import import_module

import click

from andiron import __version__
from andiron.broker.settings.listeners import Listener, bracketed
from andiron.broker.settings.node_settings import NodeSettings
from andiron.broker.settings.property_file import parse_properties
from andiron.cli.failure import Failure
from andiron.cli.hints import DEFAULT_HOST, DEFAULT_PORT, listening, say_how_to_talk
from andiron.cli.local_cluster.layout import NODES_MAX, is_cluster
from andiron.cli.local_cluster.lifeline import end_with
from andiron.cli.options import as_pairs
from andiron.edge.log_format import FORMATS, JSON, TEXT
from andiron.edge.main import run
from andiron.model.line import Line

DEFAULT_DATA = "data"
# Loaded when asked for: a node by itself needs no client.
CLUSTER, IDENTITY = "andiron.cli.local_cluster.start", "andiron.cli.identity"
FSYNC = "log.flush.interval.messages"

log = logging.getLogger(__name__)


@click.command()
@click.option("--data", metavar="DIR", help=f"Where records are kept.  [default: {DEFAULT_DATA}]")
@click.option(
    "--port",
    type=click.IntRange(0, 65534),
    help="Where clients connect; with --brokers, to the first node. The controller's is the next port, on this machine "
    f"only, for a node by itself.  [default: {DEFAULT_PORT}]",
)
@click.option("--host", help=f"The name or address to listen on, 0.0.0.0 for all.  [default: {DEFAULT_HOST}]")
@click.option(
    "--metrics",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Where Prometheus finds the metrics: http://HOST:PORT/metrics.  [default: none; with --brokers, from twenty "
    "after --port on]",
)
@click.option(
    "--controller-port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Where the controller listens, 0 for any port that is free; with --brokers, the first of them.  [default: the "
    "port after --port; with --brokers, ten after]",
)
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
@click.option(
    "--brokers",
    type=click.IntRange(1, NODES_MAX),
    metavar="N",
    help=f"A cluster of so many nodes on this machine, up to {NODES_MAX}, each a process of its own.",
)
@click.option(
    "--cluster-id",
    envvar="ANDIRON_CLUSTER_ID",
    show_envvar=True,
    metavar="ID",
    help="For a new node of a cluster: the id that all its nodes have, from `andiron cluster new-id`.",
)
@click.option("--restart", is_flag=True, help="With --brokers: start a node again that has ended.")
@click.option("--quiet", is_flag=True, help="Print problems only.")
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    default=TEXT,
    show_default=True,
    envvar="ANDIRON_LOG_FORMAT",
    show_envvar=True,
    help="The log as lines for people, or as one JSON object a line for programs; with --brokers, each node's.",
)
@click.option(
    "--until-stdin-closes", is_flag=True, hidden=True, help="Stop in order when nobody holds stdin any more."
)
@click.option(
    "--brake", metavar="FILE", hidden=True, help="A file that says how slow the disk is; see `andiron chaos`."
)
def up(
    *,
    brake: str | None,
    brokers: int | None,
    cluster_id: str | None,
    controller_port: int | None,
    restart: bool,
    until_stdin_closes: bool,
    data: str | None,
    port: int | None,
    host: str | None,
    metrics: int | None,
    config: str | None,
    chosen: dict[str, str],
    fsync: bool,
    quiet: bool,
    log_format: str,
) -> None:
    """Start a node: a broker and a controller in one process, for any Kafka client.

    It keeps its records in a folder, in Kafka's own format, and is ready in less than a second. Ctrl-C or
    SIGTERM stops it with everything flushed. The settings are Kafka's; docs/settings.md lists them.

    With --brokers N it is a cluster: N such processes on the ports from --port on, their folders in --data, and
    three replicas of everything where there are three nodes. Ctrl-C stops one after the other.

    \b
    Examples:
      andiron up
      andiron up --brokers 3
      andiron up --data /var/lib/andiron --port 9092 --set log.retention.hours=24
      andiron up --config server.properties
    """
    if fsync:
        chosen = {FSYNC: "1", **chosen}
    if brokers is not None:
        if config is not None or cluster_id is not None:
            raise click.UsageError("--brokers lays the nodes out itself; leave --config and --cluster-id out")
        start = import_module(CLUSTER).start_cluster
        code = start(
            brokers,
            data or DEFAULT_DATA,
            host or DEFAULT_HOST,
            DEFAULT_PORT if port is None else port,
            chosen,
            metrics=metrics,
            controllers=controller_port or None,
            restart=restart,
            quiet=quiet,
            log_format=log_format,
        )
        raise click.exceptions.Exit(code)
    if restart:
        raise click.UsageError("--restart goes with --brokers; for a node by itself see deploy/")
    if until_stdin_closes:
        end_with(sys.stdin.fileno())
    if config is None:
        if is_cluster(data or DEFAULT_DATA):
            raise Failure(
                f"{data or DEFAULT_DATA} has a cluster in it; say --brokers, or choose another --data"
            )
        given = node_by_itself(host or DEFAULT_HOST, DEFAULT_PORT if port is None else port, controller_port)
        given["log.dirs"] = os.path.abspath(data or DEFAULT_DATA)
    elif port is not None or host is not None or controller_port is not None:
        raise click.UsageError("--config names the listeners; to change them say --set listeners=…")
    else:
        with click.open_file(config, encoding="utf-8", errors="replace") as file:
            given = parse_properties(file.read())
        if data is not None:
            given["log.dirs"] = os.path.abspath(data)
    if metrics is not None:
        given["metrics.listener"] = f"http://{listening(host or DEFAULT_HOST)}:{metrics}"
    settings = NodeSettings.load({**given, **chosen}, socket.gethostname())
    directories = [*settings.log_dirs, settings.metadata_log_dir]
    if cluster_id is not None:
        import_module(IDENTITY).claim(directories, cluster_id, settings.node_id)
    elif not settings.is_alone:
        import_module(IDENTITY).check_founded(directories, f"andiron up --config {config or 'FILE'}")
    raise click.exceptions.Exit(_run(settings, quiet, brake, log_format, hints=not until_stdin_closes))


def node_by_itself(host: str, port: int, controller_port: int | None = None) -> dict[str, str]:
    """The settings of a node that is broker and controller, the latter one port above the former unless told, and on
    this machine only: nobody else has any business with the controller of a node that is all there is."""
    at, beside = listening(host), port + 1 if port else 0
    controller = beside if controller_port is None else controller_port
    return {
        "node.id": "1",
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://{at}:{port},CONTROLLER://{DEFAULT_HOST}:{controller}",
        "controller.listener.names": "CONTROLLER",
        # Kafka's three seconds spare large groups a rebalance for each member that joins; who develops has few members,
        # and would wait those three seconds at every start of a consumer.
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.two.phase.commit.enable": "true",  # for Spark's exactly-once sink; nobody has to be kept out
    }


def _run(settings: NodeSettings, quiet: bool, brake: str | None, log_format: str, hints: bool) -> int:
    if quiet:
        return run(settings, brake=brake, log_format=log_format, log_level=logging.WARNING)
    if log_format == JSON:
        announce = _announce_in_log
    else:
        announce = _announce if hints else _announce_place
    code = run(settings, announce=announce, brake=brake, log_format=log_format)
    if not code and log_format == JSON:
        log.info(Line("Node has stopped; everything is on the disk"))
    elif not code:
        click.echo("andiron: stopped; everything is on the disk", err=True)
    return code


def _announce_in_log(settings: NodeSettings) -> None:
    """Write where the node listens into its JSON log."""
    log.info(Line("Node serves", version=__version__, address=_address(settings), dirs=settings.log_dirs))


def _announce(settings: NodeSettings) -> None:
    """Print where the node listens, where its data is, and how to talk to it."""
    _announce_place(settings)
    click.echo(f"records are kept in {', '.join(settings.log_dirs)}")
    if (metrics := settings.metrics_listener) is not None:
        host = metrics.host or _first(settings).host or DEFAULT_HOST
        click.echo(f"metrics are at http://{bracketed(host)}:{metrics.port}/metrics")
    click.echo()
    if settings.advertised:
        say_how_to_talk(_address(settings))


def _announce_place(settings: NodeSettings) -> None:
    """Print where the node listens, and no more."""
    click.echo(f"andiron {__version__}: node {settings.node_id} serves {_address(settings)}")


def _address(settings: NodeSettings) -> str:
    listener = _first(settings)
    return f"{bracketed(listener.host)}:{listener.port}"


def _first(settings: NodeSettings) -> Listener:
    """The first advertised listener; of a node that is a controller alone, its controller listener."""
    return (settings.advertised or settings.listeners)[0]
