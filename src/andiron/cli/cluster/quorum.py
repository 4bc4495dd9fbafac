"""`andiron cluster quorum`: the voters of the metadata log, shown, and changed one at a time.

A quorum that is written in every node's settings (`controller.quorum.voters`) is changed there, with a restart.
One that was made to change (KIP-853) is changed here, while it runs.
"""

from __future__ import annotations

import click

from andiron.cli.cluster.options import A_LOOK
from andiron.cli.cluster.quorum_report import QuorumReport
from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.failure import Failure
from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import print_json
from andiron.cli.times import now_ms
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.addresses import Address, parse_addresses
from andiron.client.core.cluster_descriptions import QuorumMember, QuorumState, parse_uuid
from andiron.model.errors import AndironError, ErrorCode, ProtocolError


def as_directory(context: click.Context, parameter: click.Parameter, text: str | None) -> bytes | None:
    """An id as meta.properties has it."""
    try:
        return None if text is None else parse_uuid(text)
    except AndironError as error:
        raise click.BadParameter(str(error), context, parameter) from error


directory_option = click.option(
    "--directory",
    callback=as_directory,
    metavar="ID",
    help="Its directory.id, from meta.properties; found out if not given.",
)


@click.group(invoke_without_command=True)
@json_option
@bootstrap_option
@click.pass_context
def quorum(context: click.Context, as_json: bool, bootstrap: str) -> None:
    """Show the metadata quorum: its leader, voters and observers, and their lag.

    A majority of the voters must be alive for anything to be created, moved or elected. LAG is what a member
    lacks of the leader's log; CAUGHT UP, when it last lacked nothing. Kafka's tool for this is kafka-metadata-quorum.

    \b
    Examples:
      andiron cluster quorum
      andiron cluster quorum --json | jq '[.voters[].lag] | max'
    """
    if context.invoked_subcommand is None:
        with Client(bootstrap, A_LOOK) as client:
            report = QuorumReport(_state(ClusterAdmin(client)), now_ms())
        if as_json:
            print_json(report.as_json())
        else:
            click.echo(report.as_text())


def _state(admin: ClusterAdmin) -> QuorumState:
    try:
        return admin.describe_quorum()
    except ProtocolError as error:
        if error.code is not ErrorCode.REQUEST_TIMED_OUT:
            raise
        advice = "more than half of its voters must run; start those that do not"
        raise Failure(f"the quorum has no leader: {advice}") from error


@quorum.command("add-voter")
@click.argument("node", type=click.IntRange(0))
@click.option("--address", required=True, metavar="HOST:PORT", help="Where its controller listens.")
@click.option("--listener", default="CONTROLLER", show_default=True, help="The name of that listener.")
@directory_option
@json_option
@bootstrap_option
def add_voter(
    *, node: int, address: str, listener: str, directory: bytes | None, as_json: bool, bootstrap: str
) -> None:
    """Make a controller that is an observer a voter of the quorum.

    Start the new node first and wait until it is an observer without lag: a voter that has nothing yet holds
    everything up until it has.

    \b
    Examples:
      andiron cluster quorum add-voter 4 --address controller-4:9093
      andiron cluster quorum add-voter 4 --address controller-4:9093 --directory wQAAm2XbQ3iY4kCQq1tM0Q
    """
    with Client(bootstrap) as client:
        admin = ClusterAdmin(client)
        state = admin.describe_quorum()
        if state.voter(node) is not None and directory is None:
            raise Failure(f"node {node} is a voter already")
        found = directory or _directory(
            state.observers, node, "an observer; start it first, and let it catch up"
        )
        admin.add_voter(node, found, {listener: _one_address(address)})
        state = admin.describe_quorum()
    _tell(f"node {node} votes", node, state, as_json)


@quorum.command("remove-voter")
@click.argument("node", type=click.IntRange(0))
@directory_option
@yes_option()
@json_option
@bootstrap_option
def remove_voter(*, node: int, directory: bytes | None, yes: bool, as_json: bool, bootstrap: str) -> None:
    """Remove a voter from the quorum, so that it can be switched off for good.

    \b
    Examples:
      andiron cluster quorum remove-voter 1
      andiron cluster quorum remove-voter 1 --directory wQAAm2XbQ3iY4kCQq1tM0Q --yes
    """
    with Client(bootstrap) as client:
        admin = ClusterAdmin(client)
        state = admin.describe_quorum()
        found = directory or _directory(state.voters, node, "a voter; see `andiron cluster quorum`")
        left, borne = len(state.voters) - 1, state.failures_borne(without=node)
        confirm(f"Take the vote of node {node}? Of the {left} that are left {borne or 'none'} may fail.", yes)
        admin.remove_voter(node, found)
        state = admin.describe_quorum()
    _tell(f"node {node} votes no more", node, state, as_json)


def _directory(members: list[QuorumMember], node: int, what: str) -> bytes:
    for each in members:
        if each.id == node:
            return each.directory_id
    raise Failure(f"node {node} is not {what}")


def _one_address(text: str) -> Address:
    addresses = parse_addresses(text)
    if len(addresses) != 1:
        raise Failure(f"{text}: one address, as host:port")
    return addresses[0]


def _tell(done: str, node: int, state: QuorumState, as_json: bool) -> None:
    voters = [each.id for each in state.voters]
    if as_json:
        print_json({"node": node, "votes": node in voters, "voters": voters})
    else:
        click.echo(f"{done}; voters are {', '.join(map(str, voters))}")
