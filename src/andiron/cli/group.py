"""`andiron group`: list, describe, reset and delete groups of consumers, and what belongs to that."""

from __future__ import annotations

import click

from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.failure import Failure
from andiron.cli.group_report import GroupReport, unserved
from andiron.cli.group_reset import reset
from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import Silence, columns, plural, print_json, remark
from andiron.cli.selections import Selection, as_selections, chosen, partitions_as_json, show_partitions
from andiron.cli.times import now_ms
from andiron.client.blocking.broker_survey import HASTY
from andiron.client.blocking.client import Client
from andiron.client.blocking.group_admin import GroupAdmin
from andiron.client.core.group_descriptions import CLASSIC, CONSUMER, SHARE, STREAMS
from andiron.model.errors import ErrorCode, ProtocolError

STATES = ("Stable", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Empty", "Dead")
TYPES = (CLASSIC, CONSUMER, SHARE, STREAMS)


@click.group()
def group() -> None:
    """Groups: consumers that share the work on some topics, and the offsets up to which it is done.

    Each partition is read by one member at a time. What a group has committed outlives its members, so that
    whoever comes next goes on from there. Kafka's tool for this is kafka-consumer-groups.
    """


@group.command("list")
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES, case_sensitive=False),
    multiple=True,
    help="Only those in this state; may be given again.",
)
@click.option(
    "--type",
    "types",
    type=click.Choice(TYPES, case_sensitive=False),
    multiple=True,
    help="Only those of this protocol: classic; consumer, which assigns on the broker; share and streams, which are "
    "kept for Kafka and not served.",
)
@json_option
@bootstrap_option
def list_groups(*, states: tuple[str, ...], types: tuple[str, ...], as_json: bool, bootstrap: str) -> None:
    """List the groups of the cluster. Those of a broker that does not answer within three seconds are left out, and
    stderr says so.

    \b
    Examples:
      andiron group list
      andiron group list --state empty --json | jq -r '.[].group'
    """
    with Client(bootstrap, HASTY) as client:
        groups = GroupAdmin(client).groups(
            states, types, Silence("groups that it coordinates are not listed")
        )
    if as_json:
        print_json(
            [
                {
                    "group": each.id,
                    "type": each.type,
                    "protocol_type": each.protocol_type,
                    "state": each.state,
                    "coordinator": each.coordinator,
                }
                for each in groups
            ]
        )
    elif groups:
        rows = [(each.id, each.type, each.protocol_type, each.state, each.coordinator) for each in groups]
        click.echo(columns(("GROUP", "TYPE", "PROTOCOL", "STATE", "COORDINATOR"), rows))
    else:
        remark("there are no such groups; a consumer with a group.id makes one")


@group.command()
@click.argument("name")
@json_option
@bootstrap_option
def describe(name: str, as_json: bool, bootstrap: str) -> None:
    """Show a group: its state, members, assignments and lag.

    COMMITTED is the offset of the record to be read next, END that of the one to be written next, and LAG what
    lies between. BEHIND is the age of the first record that the group has not consumed. Where nothing is committed
    the lag is a range (`0 to 151`): a consumer begins with the first record or with the next one to be written, as its
    auto.offset.reset says. In JSON such a partition has no lag, and `unread` says how many records there are.

    \b
    Examples:
      andiron group describe billing
      andiron group describe billing --json | jq '[.partitions[].lag] | add'
    """
    with Client(bootstrap, HASTY) as client:
        silence = Silence("what it leads has no END")
        report = GroupReport.gather(GroupAdmin(client), name, now_ms(), silence)
    if as_json:
        print_json(report.as_json())
    else:
        click.echo(report.as_text())


group.add_command(reset)


@group.command()
@click.argument("names", nargs=-1, required=True)
@yes_option()
@json_option
@bootstrap_option
def delete(*, names: tuple[str, ...], yes: bool, as_json: bool, bootstrap: str) -> None:
    """Delete groups that have no members, and their committed offsets. There is no way back.

    \b
    Examples:
      andiron group delete billing
      andiron group delete trial-1 trial-2 --yes
    """
    with Client(bootstrap) as client:
        admin = GroupAdmin(client)
        silence = Silence("groups that it coordinates are not known")
        there = {each.id: each.type for each in admin.groups(left_out=silence)}
        missing = [name for name in names if name not in there]
        if missing and silence.brokers:
            raise Failure(
                f"whether there is a group {', '.join(map(repr, missing))} cannot be told; nothing was deleted"
            )
        if missing:
            raise Failure(f"there is no group {', '.join(map(repr, missing))}; nothing was deleted")
        confirm(f"Delete {', '.join(names)} with all offsets?", yes)
        for name in dict.fromkeys(names):
            try:
                admin.delete(name)
            except ProtocolError as error:
                if error.code is not ErrorCode.INVALID_REQUEST or there[name] not in (SHARE, STREAMS):
                    raise
                raise Failure(f"{name!r} is a {there[name]} group; {unserved(there[name])}") from error
            if not as_json:
                click.echo(f"deleted {name}")
    if as_json:
        print_json({"deleted": list(dict.fromkeys(names))})


@group.command("delete-offsets")
@click.argument("name")
@click.option(
    "--topic",
    "selections",
    callback=as_selections,
    multiple=True,
    required=True,
    metavar="TOPIC[:0-3,7]",
    help="What to forget: a topic, or some of its partitions; may be given again.",
)
@yes_option()
@json_option
@bootstrap_option
def delete_offsets(
    *, name: str, selections: list[Selection], yes: bool, as_json: bool, bootstrap: str
) -> None:
    """Delete a group's committed offsets of some topics.

    None of its members may be subscribed to them (Kafka: kafka-consumer-groups --delete-offsets).

    \b
    Examples:
      andiron group delete-offsets billing --topic old-orders
      andiron group delete-offsets billing --topic orders:0-3 --yes
    """
    with Client(bootstrap) as client:
        partitions, admin = chosen(client, selections), GroupAdmin(client)
        confirm(f"Make {name} forget {show_partitions(partitions)}?", yes)
        if admin.describe(name).type == SHARE:
            raise Failure(f"{name!r} is a share group, which has no offsets of this kind; {unserved(SHARE)}")
        admin.delete_offsets(name, partitions)
    if as_json:
        print_json({"group": name, "forgotten": partitions_as_json(partitions)})
    else:
        click.echo(f"{name}: {plural(len(partitions), 'offset')} forgotten")


@group.command("remove-member")
@click.argument("name")
@click.option("--member", "members", multiple=True, metavar="ID", help="A member; may be given again.")
@click.option(
    "--instance",
    "instances",
    multiple=True,
    metavar="ID",
    help="A static member by its group.instance.id; may be given again.",
)
@json_option
@bootstrap_option
def remove_member(
    *, name: str, members: tuple[str, ...], instances: tuple[str, ...], as_json: bool, bootstrap: str
) -> None:
    """Remove members from a group without waiting for their session timeout.

    Their partitions go to the others. A member that is alive joins again, unless it is a static one: those
    must be started anew. `andiron group describe` shows the ids.

    \b
    Examples:
      andiron group remove-member billing --instance worker-3
      andiron group remove-member billing --member consumer-1-5f0e3c6e-7a0b-4c5e-9a57-0d2f6b1f3f8e
    """
    if not members and not instances:
        raise click.UsageError("whom? give --member or --instance")
    with Client(bootstrap) as client:
        admin = GroupAdmin(client)
        for member in members:
            admin.remove_member(name, member)
            if not as_json:
                click.echo(f"{name}: removed {member}")
        for instance in instances:
            admin.remove_member(name, instance_id=instance)
            if not as_json:
                click.echo(f"{name}: removed {instance}")
    if as_json:
        print_json({"group": name, "members": list(members), "instances": list(instances)})
