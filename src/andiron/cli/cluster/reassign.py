"""`andiron cluster reassign`: move replicas to other brokers, after a look at what that means.

    --topic, --brokers ──▶ spread evenly, few moves ─┐
    --plan FILE ────────▶ as the file says ──────────┴─▶ table ──▶ --execute: throttle, begin, follow
    --status, --verify, --cancel ──▶ current_moves.py

The law: nothing is moved without --execute. A throttle is taken away by --verify, or at the end of --wait, and
not before: see client/core/throttles.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from andiron.cli.cluster.current_moves import call_off, show_status
from andiron.cli.cluster.options import as_broker_ids, throttle_option
from andiron.cli.cluster.replica_moves import ReplicaMoves, replicas_of, summary, table
from andiron.cli.confirmation import yes_option
from andiron.cli.failure import Failure
from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import plural, remark
from andiron.cli.selections import Selection, as_selections, chosen
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.reassignment_plan import spread
from andiron.client.core.reassignments import Change, changes, check_plan, decode_plan, encode_plan
from andiron.model.ids import TopicPartition


@click.command()
@click.option(
    "--topic",
    "selections",
    callback=as_selections,
    multiple=True,
    metavar="TOPIC[:0-3,7]",
    help="What to move: a topic, or some of its partitions; may be given again.",
)
@click.option(
    "--brokers",
    callback=as_broker_ids,
    metavar="1,2,3",
    help="Where to: spread over these; over all that are alive if not given.",
)
@click.option("--replication-factor", type=click.IntRange(1), help="How many copies; as now if not given.")
@click.option("--plan", metavar="FILE", help="What to move where, in Kafka's JSON; - for stdin.")
@click.option("--execute/--dry-run", help="Do it, or only show it, which is the default.")
@click.option("--wait", is_flag=True, help="With --execute: return when all is moved.")
@throttle_option
@click.option("--undo", metavar="FILE", help="Write there how it is now, as a plan that takes this back.")
@click.option("--status", is_flag=True, help="Show what is under way, of these topics or of all.")
@click.option("--verify", is_flag=True, help="The same, and take throttles away if nothing is.")
@click.option("--cancel", is_flag=True, help="Call off what is under way, of these topics or of all.")
@yes_option("Do not ask before --cancel.")
@json_option
@bootstrap_option
def reassign(
    *,
    selections: list[Selection],
    brokers: list[int] | None,
    replication_factor: int | None,
    plan: str | None,
    execute: bool,
    wait: bool,
    throttle: int | None,
    undo: str | None,
    status: bool,
    verify: bool,
    cancel: bool,
    yes: bool,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Move replicas of partitions to other brokers, while they are read and written.

    Replicas are spread evenly over brokers and racks, with few of them moved, and so is leadership. Without
    --execute this is only shown. --json prints it, done or not, as a plan that Kafka's own tool takes as well. A
    copy is in place when it is in sync; until then the old ones serve. Kafka's tool for this is
    kafka-reassign-partitions.

    \b
    Examples:
      andiron cluster reassign --topic orders --brokers 1,2,3
      andiron cluster reassign --topic orders --execute --wait --throttle 50MB
      andiron cluster reassign --topic orders --json > plan.json
      andiron cluster reassign --plan plan.json --execute
      andiron cluster reassign --status
      andiron cluster reassign --cancel --topic orders
    """
    if execute + status + verify + cancel > 1:
        raise click.UsageError("one of --execute, --status, --verify and --cancel at a time")
    if plan is not None and (selections or brokers or replication_factor):
        raise click.UsageError("a --plan says what goes where; leave --topic, --brokers and the like out")
    if (wait or throttle is not None) and not execute:
        raise click.UsageError("--wait and --throttle go with --execute")
    given = None if plan is None else _read(plan)
    with Client(bootstrap) as client:
        wanted = list(given) if given is not None else chosen(client, selections) if selections else None
        if cancel:
            call_off(client, wanted, yes=yes, as_json=as_json)
        elif status or verify:
            show_status(client, wanted, given or {}, clear=verify, as_json=as_json)
        elif wanted is None:
            raise click.UsageError("what is to be moved? give --topic or --plan")
        else:
            moves = planned(client, wanted, brokers, replication_factor, given)
            if undo is not None:
                with click.open_file(undo, "w", encoding="utf-8") as file:
                    file.write(encode_plan({each.partition: each.before for each in moves}) + "\n")
            if as_json:
                click.echo(encode_plan({each.partition: each.after for each in moves}))
            elif moves:
                click.echo(table(moves))
            if not moves:
                remark("everything is where it should be; there is nothing to move")
            elif execute:
                carry_out(client, moves, wait=wait, throttle=throttle, say=remark if as_json else click.echo)
            elif not as_json:
                remark(f"{summary(moves)}; nothing is moved yet: --execute does it")


def planned(
    client: Client,
    wanted: Sequence[TopicPartition],
    brokers: Sequence[int] | None,
    replication_factor: int | None,
    given: dict[TopicPartition, list[int]] | None,
) -> list[Change]:
    """The replica changes: as a plan's file says, or so that replicas are spread over these brokers."""
    admin = ClusterAdmin(client)
    cluster = admin.describe_cluster()
    everything = replicas_of(admin.topics())
    if given is not None:
        check_plan(given, everything, [each.id for each in cluster.brokers])
        return changes(everything, given)
    alive = cluster.racks()
    for each in brokers or ():
        if each not in alive:
            known = "is fenced" if each in [one.id for one in cluster.brokers] else "is not in the cluster"
            raise Failure(f"broker {each} {known}; alive are {', '.join(map(str, alive))}")
    current = {each: everything[each] for each in wanted}
    racks = {each: alive[each] for each in (brokers or alive)}
    return changes(current, spread(current, racks, replication_factor))


def carry_out(
    client: Client,
    moves: Sequence[Change],
    *,
    wait: bool,
    throttle: int | None,
    say: Callable[[str], None],
) -> None:
    """Start the reassignments, throttled if asked, and with --wait follow them to the end."""
    moving = ReplicaMoves(client)
    moving.begin(moves, throttle)
    if not wait:
        say(f"begun: {summary(moves)}")
        remark("`andiron cluster reassign --status` shows how far it is" + _about_throttle(throttle))
        return
    moving.follow([each.partition for each in moves])
    if throttle is not None:
        moving.unthrottle({each.partition.topic: None for each in moves})
    say(f"done: {plural(len(moves), 'partition')} changed")


def _about_throttle(throttle: int | None) -> str:
    return "" if throttle is None else ", and --verify takes the throttle away when it is done"


def _read(path: str) -> dict[TopicPartition, list[int]]:
    with click.open_file(path, encoding="utf-8", errors="replace") as file:
        return decode_plan(file.read())
