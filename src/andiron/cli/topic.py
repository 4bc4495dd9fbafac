"""`andiron topic`: create, list, describe, alter and delete."""

from __future__ import annotations

import click

from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.failure import Failure
from andiron.cli.options import as_pairs, bootstrap_option, json_option
from andiron.cli.output import WaitingNote, columns, plural, print_json, remark
from andiron.cli.topic_report import TopicReport
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.broker_survey import HASTY
from andiron.client.blocking.client import Client
from andiron.client.core.descriptions import Resource, ResourceType
from andiron.client.core.metadata import Topic
from andiron.model.errors import ErrorCode, ProtocolError


@click.group()
def topic() -> None:
    """Topics: what records are written to and read from.

    A topic is split into partitions, each a log of its own: order holds within one, and as many consumers can
    share the work as there are partitions. Kafka's tool for this is kafka-topics.
    """


@topic.command()
@click.argument("name")
@click.option(
    "--partitions", type=click.IntRange(1), help="How many logs; the broker's num.partitions if not given."
)
@click.option(
    "--replication-factor",
    type=click.IntRange(1),
    help="How many brokers keep a copy; the broker's default if not given.",
)
@click.option(
    "--config",
    "configs",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the topic; may be given again.",
)
@click.option("--if-not-exists", is_flag=True, help="A topic that is there already is fine.")
@json_option
@bootstrap_option
def create(
    *,
    name: str,
    partitions: int | None,
    replication_factor: int | None,
    configs: dict[str, str],
    if_not_exists: bool,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Create a topic, and return when it can be written to.

    That is when every broker knows it, and every leader takes records.

    Choose the number of partitions with room to grow: more can be added, but then keys move to others.

    \b
    Examples:
      andiron topic create orders --partitions 6
      andiron topic create users --config cleanup.policy=compact --if-not-exists
    """
    with Client(bootstrap) as client:
        try:
            made = Admin(client).create_topic(
                name, partitions or -1, replication_factor or -1, configs, WaitingNote(f"{name} is created")
            )
        except ProtocolError as error:
            if not (if_not_exists and error.code is ErrorCode.TOPIC_ALREADY_EXISTS):
                raise
            said, created, shape = f"{name} is there already", False, {}
        else:
            said, created = f"created {name}: {_shape(made)}", True
            shape = {
                "id": made.id_text,
                "partitions": len(made.partitions),
                "replication_factor": _replication_factor(made),
            }
    if as_json:
        print_json({"topic": name, "created": created, **shape})
    else:
        click.echo(said)


@topic.command("list")
@click.option("--internal", is_flag=True, help="Also those that the cluster keeps for itself.")
@json_option
@bootstrap_option
def list_topics(internal: bool, as_json: bool, bootstrap: str) -> None:
    """List the topics of the cluster.

    \b
    Examples:
      andiron topic list
      andiron topic list --json | jq -r '.[].name'
    """
    with Client(bootstrap, HASTY) as client:
        topics = [each for each in Admin(client).topics() if internal or not each.internal]
    if as_json:
        print_json(
            [
                {
                    "name": each.name,
                    "partitions": len(each.partitions),
                    "replication_factor": _replication_factor(each),
                    "internal": each.internal,
                }
                for each in topics
            ]
        )
    elif topics:
        rows = [(each.name, len(each.partitions), _replication_factor(each)) for each in topics]
        click.echo(columns(("TOPIC", "PARTITIONS", "REPLICAS"), rows))
    else:
        remark("there are no topics; make one with `andiron topic create NAME`")


@topic.command()
@click.argument("name")
@json_option
@bootstrap_option
def describe(name: str, as_json: bool, bootstrap: str) -> None:
    """Show a topic: partitions, leaders, replicas, offsets, sizes and settings.

    ISR are the replicas in sync with the leader. END is the offset that the next record will get, and START
    that of the oldest one. Settings are shown where they differ from the defaults. A leader that does not answer
    within three seconds has a ? for what only it knows.

    \b
    Examples:
      andiron topic describe orders
      andiron topic describe orders --json | jq '.partitions[].end'
    """
    with Client(bootstrap, HASTY) as client:
        report = TopicReport.gather(client, name)
    if as_json:
        print_json(report.as_json())
    else:
        click.echo(report.as_text())


@topic.command()
@click.argument("name")
@click.option("--partitions", type=click.IntRange(1), help="How many in all; only ever more.")
@click.option(
    "--config",
    "configs",
    callback=as_pairs,
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting; may be given again.",
)
@click.option(
    "--delete-config", "deleted", multiple=True, metavar="KEY", help="A setting to take back to its default."
)
@json_option
@bootstrap_option
def alter(
    *,
    name: str,
    partitions: int | None,
    configs: dict[str, str],
    deleted: tuple[str, ...],
    as_json: bool,
    bootstrap: str,
) -> None:
    """Give a topic more partitions, or other settings.

    With more partitions, most keys go to others than before, while their old records stay where they are:
    what relies on the order of a key's records must have caught up first.

    \b
    Examples:
      andiron topic alter orders --partitions 12
      andiron topic alter orders --config retention.ms=86400000 --delete-config max.message.bytes
    """
    if partitions is None and not configs and not deleted:
        raise click.UsageError("nothing to change: give --partitions, --config or --delete-config")
    done = {"topic": name, "set": configs, "deleted": list(deleted), "partitions": partitions}
    with Client(bootstrap) as client:
        admin = Admin(client)
        if configs or deleted:
            admin.alter_configs(Resource(ResourceType.TOPIC, name), configs, deleted)
            if not as_json:
                click.echo(f"{name}: {plural(len(configs) + len(deleted), 'setting')} changed")
        if partitions is not None:
            before = len(admin.topic(name).partitions)
            admin.create_partitions(
                name, partitions, WaitingNote(f"{name} has {plural(partitions, 'partition')}")
            )
            done["partitions_before"] = before
            if not as_json:
                click.echo(f"{name}: {plural(partitions, 'partition')}, {before} before")
            remark("keys move: records with a key may go to another partition from now on; old ones stay")
    if as_json:
        print_json(done)


@topic.command()
@click.argument("names", nargs=-1, required=True)
@yes_option()
@json_option
@bootstrap_option
def delete(*, names: tuple[str, ...], yes: bool, as_json: bool, bootstrap: str) -> None:
    """Delete topics with all their records. There is no way back.

    \b
    Examples:
      andiron topic delete orders
      andiron topic delete scratch-1 scratch-2 --yes
    """
    with Client(bootstrap) as client:
        admin = Admin(client)
        there = {each.name for each in admin.topics()}
        missing = [name for name in names if name not in there]
        if missing:
            raise Failure(f"there is no topic {', '.join(map(repr, missing))}; nothing was deleted")
        confirm(f"Delete {', '.join(names)} with all records?", yes)
        for name in dict.fromkeys(names):
            admin.delete_topic(name)
            if not as_json:
                click.echo(f"deleted {name}")
    if as_json:
        print_json({"deleted": list(dict.fromkeys(names))})


def _shape(made: Topic) -> str:
    return f"{plural(len(made.partitions), 'partition')}, replication factor {_replication_factor(made)}"


def _replication_factor(each: Topic) -> int:
    return max((len(partition.replicas) for partition in each.partitions), default=0)
