"""`andiron cluster upgrade`: the finalized levels of features (KIP-584) are raised to the newest that nodes support.

    feature             level   newest
    metadata.version       29       30     one request for these: all, or none
    kraft.version           0        1     one of its own, the last: the voters are written into the metadata log

A node of a later version goes on with the levels that the cluster has, so that nodes can be upgraded one by one and
go back. When all are there, this raises the levels (Kafka's `kafka-features upgrade`).
"""

from __future__ import annotations

import click

from andiron.cli.confirmation import confirm, yes_option
from andiron.cli.options import bootstrap_option, json_option
from andiron.cli.output import columns, print_json, remark
from andiron.client.blocking.client import Client
from andiron.client.blocking.cluster_admin import ClusterAdmin
from andiron.client.core.cluster_descriptions import Feature
from andiron.model.errors import ErrorCode, ProtocolError

KRAFT_VERSION = "kraft.version"
NOT_SERVED = ("share.version", "streams.version")  # features that Kafka serves and Andiron does not
NO_WAY_BACK = "There is no way back from levels of metadata.version and kraft.version"


@click.command()
@click.option("--dry-run", is_flag=True, help="Show what would be raised, and whether it could be.")
@yes_option()
@json_option
@bootstrap_option
def upgrade(*, dry_run: bool, yes: bool, as_json: bool, bootstrap: str) -> None:
    """Raise the cluster's features to the newest levels that its nodes know.

    A cluster keeps its levels when its nodes get a newer version, so that they can go back. With kraft.version 1 the
    metadata names its voters: they can be changed while it runs, and Kafka opens a node's folder as it opens its own.

    \b
    Examples:
      andiron cluster upgrade --dry-run
      andiron cluster upgrade --yes
    """
    with Client(bootstrap) as client:
        admin = ClusterAdmin(client)
        features = admin.features()
        behind = [each for each in features if each.level < each.newest and _may_be_raised(admin, each)]
        for levels in _requests(behind):
            admin.upgrade_features(levels, validate_only=True)
        if behind and not dry_run:
            named = ", ".join(f"{each.name} from {each.level} to {each.newest}" for each in behind)
            confirm(f"Raise {named}? {NO_WAY_BACK}.", yes)
        if not dry_run:
            for levels in _requests(behind):
                admin.upgrade_features(levels)
    if as_json:
        rows = [{"feature": name, "level": level, "newest": newest} for name, level, newest in features]
        print_json({"features": rows, "raised": [] if dry_run else [each.name for each in behind]})
    elif not behind:
        remark("nothing to do: all features are at the newest level that the nodes know")
    else:
        head = ["FEATURE", "LEVEL", "NEWEST"] if dry_run else ["FEATURE", "WAS", "IS"]
        click.echo(columns(head, behind))


def _may_be_raised(admin: ClusterAdmin, feature: Feature) -> bool:
    """Whether the controller would raise a feature: one that is known for Kafka's sake and not served is left."""
    if feature.name not in NOT_SERVED:
        return True
    try:
        admin.upgrade_features({feature.name: feature.newest}, validate_only=True)
    except ProtocolError as error:
        if error.code is not ErrorCode.INVALID_UPDATE_VERSION:
            raise
        return False
    return True


def _requests(behind: list[Feature]) -> list[dict[str, int]]:
    """The UpdateFeatures requests: kraft.version has one of its own, since the quorum decides it."""
    others = {each.name: each.newest for each in behind if each.name != KRAFT_VERSION}
    quorums = {each.name: each.newest for each in behind if each.name == KRAFT_VERSION}
    return [each for each in (others, quorums) if each]
