"""`andiron`: the table of its commands.

This module is on the way of every start, so it imports click and little else.
"""

from __future__ import annotations

import click

from andiron import __version__
from andiron.cli.failure import in_one_line
from andiron.cli.lazy_group import LazyGroup, Place

PLACES = {
    "up": Place("andiron.cli.up", "up", "Start a node."),
    "topic": Place("andiron.cli.topic", "topic", "Create, list, describe, alter and delete topics."),
    "produce": Place("andiron.cli.produce", "produce", "Write records from stdin to a topic."),
    "consume": Place("andiron.cli.consume", "consume", "Read records of a topic to stdout."),
    "copy": Place("andiron.cli.copy", "copy", "Copy topics, records and groups to another cluster."),
    "group": Place("andiron.cli.group", "group", "List, describe, reset and delete groups of consumers."),
    "transaction": Place(
        "andiron.cli.transaction", "transaction", "List, describe, look for hanging and abort transactions."
    ),
    "table": Place(
        "andiron.cli.table", "table", "Show tables that Spark has written, and prove that they are right."
    ),
    "cluster": Place(
        "andiron.cli.cluster.commands",
        "cluster",
        "Describe brokers and the quorum, move replicas, elect leaders.",
    ),
    "config": Place("andiron.cli.config", "config", "Show and change settings of topics and brokers."),
    "pipeline": Place("andiron.cli.pipeline", "pipeline", "List, run, look at and stop pipelines on Spark."),
    "chaos": Place(
        "andiron.chaos.command", "chaos", "Harm a cluster under load, and account for every record."
    ),
    "files": Place(
        "andiron.cli.files", "files", "Pipelines, examples, units and documentation that come with it."
    ),
    "kafka": Place("andiron.cli.kafka", "kafka", "Hand a node's folder to Apache Kafka, and take it back."),
    "log": Place("andiron.cli.log", "log", "Look into the data files of a stopped node."),
}


class Commands(LazyGroup):
    """The outermost group: here errors become lines."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was asked for."""
        return in_one_line(lambda: super(Commands, self).invoke(ctx))


@click.group(
    cls=Commands,
    places=PLACES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="andiron", message="%(prog)s %(version)s")
def andiron() -> None:
    """Kafka's log, written in Python: start a node, and work with any Kafka cluster.

    \b
    andiron up                             a node on localhost:9092, its data in ./data
    echo hello | andiron produce greetings
    andiron consume greetings

    Every command explains itself with --help. Those that talk to a cluster find it by --bootstrap, or by
    ANDIRON_BOOTSTRAP in the environment. `andiron files list` says where docs/, deploy/, examples/ and pipelines/
    are, which the texts name.
    """


def main() -> None:
    """The entry point."""
    andiron()
