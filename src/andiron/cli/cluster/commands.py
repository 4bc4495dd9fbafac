"""`andiron cluster`: describe, quorum, reassign, elect, drain, unregister, upgrade."""

from __future__ import annotations

import click

from andiron.cli.cluster.drain import drain
from andiron.cli.cluster.options import A_LOOK
from andiron.cli.cluster.quorum import quorum
from andiron.cli.cluster.reassign import reassign
from andiron.cli.cluster.replica_moves import check_refusals, refusals_as_json, replicas_of
from andiron.cli.cluster.report import ClusterReport
from andiron.cli.cluster.upgrade import upgrade
from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.failure import Failure
from andiron.cli.identity import new_id
from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import plural, print_json, remark
from andiron.cli.selections import Selection, as_selections, chosen, partitions_as_json, show_partitions
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin, Election


@click.group()
def cluster() -> None:
    """The cluster itself: its brokers, its quorum, where replicas are, and who leads.

    Every partition has a leader, which is read from and written to, and replicas that copy it. Those that have
    all of it are in sync, and one of them leads when the leader fails.
    """


@cluster.command()
@json_option
@bootstrap_option
def describe(as_json: bool, bootstrap: str) -> None:
    """Show the brokers, and partitions that are under-replicated or offline.

    A fenced broker is registered and not alive. LEADS is what it serves, REPLICAS what it should have a copy
    of, IN SYNC what it has one of.

    \b
    Examples:
      andiron cluster describe
      andiron cluster describe --json | jq .partitions
    """
    with Client(bootstrap, A_LOOK) as client:
        report = ClusterReport.gather(ClusterAdmin(client), Admin(client))
    if as_json:
        print_json(report.as_json())
    else:
        click.echo(report.as_text())


cluster.add_command(quorum)
cluster.add_command(reassign)


@cluster.command()
@click.option(
    "--topic",
    "selections",
    callback=as_selections,
    multiple=True,
    metavar="TOPIC[:0-3,7]",
    help="A topic, or some of its partitions; may be given again. All if not given.",
)
@click.option(
    "--unclean", is_flag=True, help="Where no replica in sync is left, take any: what it lacks is lost."
)
@yes_option("Do not ask before --unclean.")
@json_option
@bootstrap_option
def elect(*, selections: list[Selection], unclean: bool, yes: bool, as_json: bool, bootstrap: str) -> None:
    """Elect the preferred leader of partitions: the first of their replicas.

    After a broker was away, others lead in its place, and may go on to. With --unclean, partitions without a
    leader get one that was not in sync: records that only the lost replicas had are gone for good. Kafka's tool for
    this is kafka-leader-election.

    \b
    Examples:
      andiron cluster elect
      andiron cluster elect --topic orders
      andiron cluster elect --topic orders:3 --unclean
    """
    with Client(bootstrap) as client:
        wanted = chosen(client, selections) if selections else None
        if unclean:
            of = show_partitions(wanted) if wanted is not None else "every partition that has no leader"
            confirm(f"Elect replicas that are not in sync for {of}? Records may be lost.", yes)
        election = Election.UNCLEAN if unclean else Election.PREFERRED
        elected, refused = ClusterAdmin(client).elect_leaders(election, wanted)
    if as_json:
        print_json({"elected": partitions_as_json(elected), "refused": refusals_as_json(refused)})
    elif elected:
        click.echo(f"elected: {show_partitions(elected)}")
    elif not refused:
        remark("nothing to do: " + ("all have a leader" if unclean else "all have the leader they prefer"))
    check_refusals(refused, len(elected) + len(refused), "given a leader")


cluster.add_command(drain)


@cluster.command("new-id")
def show_new_id() -> None:
    """Print an id for a new cluster, as kafka-storage random-uuid does.

    Give it to each of its nodes at the first start.

    \b
    Examples:
      andiron cluster new-id > cluster-id
      andiron up --config server.properties --cluster-id "$(cat cluster-id)"
    """
    click.echo(new_id())


@cluster.command()
@click.argument("broker", type=click.IntRange(0))
@yes_option()
@json_option
@bootstrap_option
def unregister(*, broker: int, yes: bool, as_json: bool, bootstrap: str) -> None:
    """Unregister a broker that will not come back.

    Take its replicas off it first (`andiron cluster drain`) and stop it. Until it is unregistered, the cluster
    knows it as fenced.

    \b
    Examples:
      andiron cluster unregister 3
      andiron cluster unregister 3 --yes
    """
    with Client(bootstrap) as client:
        admin = ClusterAdmin(client)
        if broker in admin.describe_cluster().racks():
            raise Failure(f"broker {broker} is alive, and would come back at once; stop it first")
        held = [each for each, replicas in replicas_of(admin.topics()).items() if broker in replicas]
        if held:
            raise Failure(
                f"broker {broker} has replicas of {plural(len(held), 'partition')}; "
                f"take them off it with `andiron cluster drain {broker}` first"
            )
        confirm(f"Strike broker {broker} from the cluster?", yes)
        admin.unregister_broker(broker)
    if as_json:
        print_json({"unregistered": broker})
    else:
        click.echo(f"broker {broker} is struck")


cluster.add_command(upgrade)
