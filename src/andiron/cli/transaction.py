"""`andiron transaction`: list and describe, find those that hang, and end those that nobody else will."""

from __future__ import annotations

import click

from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.failure import Failure
from andiron.cli.options import as_duration, bootstrap_option, json_option
from andiron.cli.output import Silence, columns, print_json, remark
from andiron.cli.selections import Selection, as_selections, chosen
from andiron.cli.times import now_ms
from andiron.cli.transaction_report import (
    description_as_json,
    description_as_text,
    hanging_as_text,
    producer_as_json,
    producers_as_text,
)
from andiron.client.blocking.broker_survey import HASTY
from andiron.client.blocking.client import Client
from andiron.client.blocking.transaction_admin import ANY_DURATION, TransactionAdmin
from andiron.client.core.transaction_descriptions import OpenTransaction

STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "PrepareEpochFence",
)


@click.group()
def transaction() -> None:
    """Transactions: records and offsets in several partitions that count together, or not at all.

    A producer has a transactional id, under which a coordinator knows what it has begun. While a transaction is
    open, readers of committed records wait before it. Kafka's tool for this is kafka-transactions.
    """


@transaction.command("list")
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES, case_sensitive=False),
    multiple=True,
    help="Only those in this state; may be given again.",
)
@click.option(
    "--producer-id",
    "producer_ids",
    type=int,
    multiple=True,
    help="Only of this producer; may be given again.",
)
@click.option(
    "--longer-than",
    callback=as_duration,
    metavar="DURATION",
    help="Only those that are open, for longer: 30s, 1h30m.",
)
@click.option(
    "--id-pattern", metavar="REGEX", help="Only those whose whole transactional id this expression matches."
)
@json_option
@bootstrap_option
def list_transactions(
    *,
    states: tuple[str, ...],
    producer_ids: tuple[int, ...],
    longer_than: int | None,
    id_pattern: str | None,
    as_json: bool,
    bootstrap: str,
) -> None:
    """List the transactional ids that the coordinators know, with the state of each. Those of a broker that does not
    answer within three seconds are left out, and stderr says so.

    \b
    Examples:
      andiron transaction list
      andiron transaction list --state ongoing --longer-than 5m --json
    """
    silence = Silence("transactions that it coordinates are not listed")
    with Client(bootstrap, HASTY) as client:
        duration = ANY_DURATION if longer_than is None else longer_than
        found = TransactionAdmin(client).transactions(states, producer_ids, duration, id_pattern, silence)
    if as_json:
        print_json([each._asdict() for each in found])
    elif found:
        rows = [(each.transactional_id, each.producer_id, each.state, each.coordinator) for each in found]
        click.echo(columns(("TRANSACTIONAL ID", "PRODUCER", "STATE", "COORDINATOR"), rows))
    else:
        remark("there are no such transactions; a producer with a transactional.id makes them")


@transaction.command()
@click.argument("transactional_id")
@json_option
@bootstrap_option
def describe(transactional_id: str, as_json: bool, bootstrap: str) -> None:
    """Show the producer, state and partitions of a transactional id.

    \b
    Examples:
      andiron transaction describe billing-7
      andiron transaction describe billing-7 --json | jq .state
    """
    with Client(bootstrap, HASTY) as client:
        told = TransactionAdmin(client).describe(transactional_id)
    if as_json:
        print_json(description_as_json(told))
    else:
        click.echo(description_as_text(told, now_ms()))


@transaction.command()
@click.argument("selections", callback=as_selections, nargs=-1, required=True, metavar="TOPIC[:0-3,7]...")
@json_option
@bootstrap_option
def producers(*, selections: list[Selection], as_json: bool, bootstrap: str) -> None:
    """Show the active producers of partitions, and where their transactions start.

    \b
    Examples:
      andiron transaction producers orders
      andiron transaction producers orders:3 payments:0-7 --json
    """
    silence = Silence("the partitions that it leads are not shown")
    with Client(bootstrap, HASTY) as client:
        found = TransactionAdmin(client).producers(chosen(client, selections), silence)
    if as_json:
        print_json(
            [producer_as_json(partition, each) for partition in sorted(found) for each in found[partition]]
        )
    elif any(found.values()):
        click.echo(producers_as_text(found))
    else:
        remark("no producer is remembered there")


@transaction.command("find-hanging")
@click.option(
    "--topic",
    "selections",
    callback=as_selections,
    multiple=True,
    metavar="TOPIC[:0-3,7]",
    help="Look there only; may be given again. Every topic if not given.",
)
@click.option(
    "--older-than",
    callback=as_duration,
    default="15m",
    show_default=True,
    metavar="DURATION",
    help="Nothing was written for so long: no less than the brokers' transaction.max.timeout.ms.",
)
@json_option
@bootstrap_option
def find_hanging(*, selections: list[Selection], older_than: int, as_json: bool, bootstrap: str) -> None:
    """Find hanging transactions: open in a partition, and unknown to any coordinator.

    No marker will ever end them, and readers of committed records stop before them.

    \b
    Examples:
      andiron transaction find-hanging
      andiron transaction find-hanging --topic orders --older-than 1h --json
    """
    silence = Silence("the partitions that it leads were not looked at")
    with Client(bootstrap, HASTY) as client:
        everything = [Selection(topic.name, topic.writable()) for topic in client.topics()]
        partitions = chosen(client, selections or everything)
        found = TransactionAdmin(client).find_hanging(partitions, older_than, now_ms(), silence)
    if as_json:
        print_json([producer_as_json(partition, producer) for partition, producer in found])
    elif found:
        click.echo(hanging_as_text(found, now_ms()))
        remark("end one with: andiron transaction abort --topic TOPIC:PARTITION --start-offset OFFSET")
    else:
        remark("no transaction hangs there")


@transaction.command()
@click.argument("transactional_id", required=False)
@click.option(
    "--topic",
    "selections",
    callback=as_selections,
    multiple=True,
    metavar="TOPIC:PARTITION",
    help="Where a hanging transaction is.",
)
@click.option("--start-offset", type=click.IntRange(0), metavar="N", help="Where it starts.")
@click.option("--force", is_flag=True, help="Do not ask the coordinators whether they know of it.")
@yes_option()
@json_option
@bootstrap_option
def abort(
    *,
    transactional_id: str | None,
    selections: list[Selection],
    start_offset: int | None,
    force: bool,
    yes: bool,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Abort a transaction by its transactional id, or a hanging one by its partition.

    By its id, the coordinator aborts it everywhere, and the producer that has the id is fenced. What hangs has
    no coordinator any more; an abort marker is then written into that partition alone.

    \b
    Examples:
      andiron transaction abort billing-7
      andiron transaction abort --topic orders:3 --start-offset 1500
    """
    hangs = bool(selections) or start_offset is not None
    if hangs == (transactional_id is not None) or (hangs and (len(selections) != 1 or start_offset is None)):
        raise click.UsageError(
            "which one? give a transactional id, or --topic TOPIC:PARTITION with --start-offset"
        )
    with Client(bootstrap) as client:
        admin = TransactionAdmin(client)
        if transactional_id is not None:
            confirm(f"Abort what is open under {transactional_id}, and fence its producer?", yes)
            admin.terminate(transactional_id)
            said = f"{transactional_id}: aborted, its producer is fenced"
            done = {"aborted": True, "transactional_id": transactional_id}
        else:
            assert start_offset is not None
            found = _found(client, admin, selections[0], start_offset)
            if not force and not admin.hanging([found]):
                raise Failure(
                    f"a coordinator knows the transaction of producer {found.producer.producer_id}; `andiron "
                    f"transaction list --producer-id {found.producer.producer_id}` tells the id to abort it by"
                )
            confirm(f"Abort the transaction from offset {start_offset} on in {found.partition}?", yes)
            admin.abort(found)
            said = f"{found.partition}: the transaction from offset {start_offset} on is aborted"
            done = {"aborted": True, **producer_as_json(*found)}
    if as_json:
        print_json(done)
    else:
        click.echo(said)


def _found(client: Client, admin: TransactionAdmin, where: Selection, start_offset: int) -> OpenTransaction:
    partitions = chosen(client, [where])
    if len(partitions) != 1:
        raise Failure(f"one partition at a time: --topic {where.topic}:N")
    (partition,) = partitions
    for producer in admin.producers(partitions)[partition]:
        if producer.start_offset == start_offset:
            return OpenTransaction(partition, producer)
    raise Failure(
        f"no transaction that is open in {partition} starts at offset {start_offset}; "
        f"`andiron transaction producers {partition.topic}:{partition.partition}` shows those that are"
    )
