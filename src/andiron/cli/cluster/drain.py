"""`andiron cluster drain`: take all replicas off one broker, or only its leadership.

    replicas        each goes to the broker that has the least and fits, by rack too; followed to the end
    --leaders-only  the order of replicas is changed so that another is preferred, and that one is elected:
                    nothing is copied, and clients turn to the new leaders within moments

The first is for a broker that goes for good, also one that is dead already. The second is for one that is to be
restarted or looked after: it stays in sync, and can lead again as soon as it is asked to.
"""

from __future__ import annotations

from typing import Any

import click

from andiron.cli.cluster.options import throttle_option
from andiron.cli.cluster.replica_moves import (
    ReplicaMoves,
    check_refusals,
    moves_as_json,
    replicas_of,
    summary,
    table,
)
from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.failure import Failure
from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import plural, print_json, remark
from andiron.cli.selections import partitions_as_json, show_partitions
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin, Election
from andiron.client.core.cluster_descriptions import ClusterState
from andiron.client.core.metadata import Topic
from andiron.client.core.reassignment_plan import leaders_away, without
from andiron.client.core.reassignments import Change, changes
from andiron.model.ids import TopicPartition


@click.command()
@click.argument("broker", type=click.IntRange(0))
@click.option("--leaders-only", is_flag=True, help="Let others lead; its replicas stay where they are.")
@click.option("--dry-run", is_flag=True, help="Only show what would be moved.")
@click.option("--no-wait", is_flag=True, help="Return when the moves have begun.")
@throttle_option
@yes_option()
@json_option
@bootstrap_option
def drain(
    *,
    broker: int,
    leaders_only: bool,
    dry_run: bool,
    no_wait: bool,
    throttle: int | None,
    yes: bool,
    as_json: bool,
    bootstrap: str,
) -> None:
    """Take all replicas off a broker, so that it can be switched off for good.

    They go to brokers that have the fewest, in racks that their partitions lack; nothing else is moved. It
    returns when all is copied. What cannot be is told first: a topic with as many replicas as there are
    brokers has nowhere to go.

    \b
    Examples:
      andiron cluster drain 3 --dry-run
      andiron cluster drain 3 --throttle 50MB
      andiron cluster drain 3 --leaders-only --yes
    """
    if leaders_only and (throttle is not None or no_wait):
        raise click.UsageError("--leaders-only copies nothing: leave --throttle and --no-wait out")
    with Client(bootstrap) as client:
        admin = ClusterAdmin(client)
        cluster, topics = admin.describe_cluster(), admin.topics()
        _check_broker(cluster, broker, topics)
        if leaders_only:
            _drain_leaders(client, broker, topics, dry_run=dry_run, yes=yes, as_json=as_json)
            return
        moves = _moves_off(broker, cluster, topics)
        say = _DrainResult(as_json, {"broker": broker, "moves": moves_as_json(moves)})
        if not moves:
            say("done", f"broker {broker} has no replicas")
            return
        if not as_json:
            click.echo(table(moves))
        if dry_run:
            remark(f"{summary(moves)}; nothing is moved yet")
            say("planned")
            return
        confirm(f"Take {plural(len(moves), 'replica')} off broker {broker}?", yes)
        _move(client, moves, throttle, wait=not no_wait)
        if no_wait:
            say("begun", f"begun: {summary(moves)}")
            remark(
                "`andiron cluster reassign --status` shows how far it is, --verify takes a throttle away at the end"
            )
        else:
            say("done", f"broker {broker} has no replicas any more")


def _check_broker(cluster: ClusterState, broker: int, topics: list[Topic]) -> None:
    """Refuse an id that is no broker; one that is no longer registered may still have replicas."""
    named = any(broker in each for each in replicas_of(topics).values())
    if broker not in [each.id for each in cluster.brokers] and not named:
        ids = ", ".join(str(each.id) for each in cluster.brokers)
        raise Failure(f"there is no broker {broker}; the cluster has {ids}")


def _moves_off(broker: int, cluster: ClusterState, topics: list[Topic]) -> list[Change]:
    """Where each replica of a broker goes."""
    fenced = {each.id: each.rack for each in cluster.brokers if each.fenced}
    return changes(*without(broker, replicas_of(topics), cluster.racks(), fenced))


def _move(client: Client, moves: list[Change], throttle: int | None, *, wait: bool) -> None:
    """Begin the moves, and see them through unless nobody waits."""
    moving = ReplicaMoves(client)
    moving.begin(moves, throttle)
    if not wait:
        return
    moving.follow([each.partition for each in moves])
    if throttle is not None:
        moving.unthrottle({each.partition.topic: None for each in moves})


def _drain_leaders(
    client: Client, broker: int, topics: list[Topic], *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    found = {TopicPartition(topic.name, each.number): each for topic in topics for each in topic.partitions}
    led = [name for name, each in found.items() if each.leader == broker]
    in_sync = {name: each.isr for name, each in found.items()}
    reorder = leaders_away(broker, replicas_of(topics), in_sync)
    stuck = [name for name in led if not set(in_sync[name]) - {broker}]
    movable = [name for name in led if name not in stuck]
    say = _DrainResult(
        as_json,
        {"broker": broker, "others_lead": partitions_as_json(movable), "stuck": partitions_as_json(stuck)},
    )
    if not movable and not reorder:
        say("done", "" if stuck else f"broker {broker} leads nothing")
        _tell_stuck(broker, stuck)
        return
    if dry_run:
        remark(f"broker {broker} leads {show_partitions(led) or 'nothing'}; nothing is changed yet")
        say("planned")
        return
    confirm(f"Have others lead {plural(len(movable), 'partition')}?", yes)
    admin, moving = ClusterAdmin(client), ReplicaMoves(client)
    if reorder:
        check_refusals(admin.reassign(dict(reorder)), len(reorder), "given another order")
        moving.follow(reorder)
    if movable:
        _, refused = admin.elect_leaders(Election.PREFERRED, movable)
        check_refusals(refused, len(movable), "given another leader")
    say("done", "" if stuck else f"others lead {plural(len(movable), 'partition')}")
    _tell_stuck(broker, stuck)
    remark("`andiron cluster reassign --topic …` spreads leadership again when it is back")


class _DrainResult:
    """Prints how a drain ended: in words, or as one JSON document."""

    def __init__(self, as_json: bool, done: dict[str, Any]) -> None:
        self._as_json, self._done = as_json, done

    def __call__(self, state: str, words: str = "") -> None:
        if self._as_json:
            print_json({**self._done, "state": state})
        elif words:
            click.echo(words)


def _tell_stuck(broker: int, stuck: list[TopicPartition]) -> None:
    if stuck:
        raise Failure(
            f"nobody but broker {broker} is in sync for {show_partitions(stuck)}; "
            "give them more replicas with `andiron cluster reassign --replication-factor`, or wait for the others"
        )
