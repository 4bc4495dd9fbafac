"""`andiron config`: the settings of topics and brokers, as the brokers have them."""

from __future__ import annotations

from typing import Any

import click

from andiron.cli.failure import Failure
from andiron.cli.options import as_pairs, bootstrap_option, json_option
from andiron.cli.output import columns, plural, print_json, remark
from andiron.client.blocking.admin import Admin
from andiron.client.blocking.broker_survey import HASTY
from andiron.client.blocking.client import Client
from andiron.client.core.descriptions import Config, Resource, ResourceType, source_name
from andiron.model.settings import Type

ALL_BROKERS = "all"
_SECRET = "(secret)"
_TYPES = {each.value: each.name.lower() for each in Type}

kind_argument = click.argument("kind", type=click.Choice(["topic", "broker"]))


@click.group()
def config() -> None:
    """Settings: what a topic or a broker does when nobody says otherwise.

    A value may be given to a topic, to one broker or to all of them while they run, or in a broker's
    server.properties; the first of these that has one counts, else the default. Kafka's tool for this is
    kafka-configs.
    """


@config.command()
@kind_argument
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Also those that have their defaults.")
@json_option
@bootstrap_option
def get(*, kind: str, name: str | None, everything: bool, as_json: bool, bootstrap: str) -> None:
    """Show the settings of a topic or a broker that differ from the defaults.

    A broker is named by its id, which may be left out where there is one broker. `broker all` shows what was
    given to all brokers while they run.

    \b
    Examples:
      andiron config get topic orders
      andiron config get broker 1 --all
      andiron config get topic orders --all --json | jq '.[] | select(.name == "retention.ms")'
    """
    with Client(bootstrap, HASTY) as client:
        admin = Admin(client)
        found = admin.configs(_resource(admin, kind, name), documentation=as_json)
    shown = [each for each in found if everything or not each.is_default]
    if as_json:
        print_json([_as_json(each) for each in shown])
    elif shown:
        rows = [(each.name, _value(each), each.source_name) for each in shown]
        click.echo(columns(("SETTING", "VALUE", "FROM"), rows))
    else:
        remark("every setting has its default; --all shows them")


@config.command("set")
@kind_argument
@click.argument("name")
@click.argument("given", nargs=-1, callback=as_pairs, metavar="[KEY=VALUE]...")
@click.option(
    "--delete", "deleted", multiple=True, metavar="KEY", help="Take a setting back; may be given again."
)
@json_option
@bootstrap_option
def set_configs(
    *, kind: str, name: str, given: dict[str, str], deleted: tuple[str, ...], as_json: bool, bootstrap: str
) -> None:
    """Change settings of a topic or a broker while it runs: all of them, or none.

    `broker all` gives a value to all brokers. Settings that count only after a restart belong into
    server.properties, and are refused here.

    \b
    Examples:
      andiron config set topic orders retention.ms=86400000 max.message.bytes=2000000
      andiron config set topic orders --delete retention.ms
      andiron config set broker all log.retention.ms=3600000
    """
    if not given and not deleted:
        raise click.UsageError("nothing to change: give KEY=VALUE or --delete KEY")
    with Client(bootstrap) as client:
        admin = Admin(client)
        resource = _resource(admin, kind, name)
        admin.alter_configs(resource, given, deleted)
    if as_json:
        print_json({"kind": kind, "name": name, "set": given, "deleted": list(deleted)})
    else:
        click.echo(f"{resource}: {plural(len(given) + len(deleted), 'setting')} changed")


def _resource(admin: Admin, kind: str, name: str | None) -> Resource:
    if kind == "topic":
        if name is None:
            raise click.UsageError("which topic? say: andiron config get topic NAME")
        return Resource(ResourceType.TOPIC, name)
    if name == ALL_BROKERS:
        return Resource(ResourceType.BROKER, "")
    ids = [str(each.id) for each in admin.cluster().brokers]
    if name is None and len(ids) == 1:
        return Resource(ResourceType.BROKER, ids[0])
    if name not in ids:
        asked = "which broker?" if name is None else f"there is no broker {name};"
        raise Failure(f"{asked} the cluster has {', '.join(ids)}; {ALL_BROKERS} stands for all of them")
    return Resource(ResourceType.BROKER, name)


def _value(each: Config) -> str:
    if each.sensitive:
        return _SECRET
    return "" if each.value is None else each.value


def _as_json(each: Config) -> dict[str, Any]:
    return {
        "name": each.name,
        "value": each.value,
        "source": each.source_name,
        "type": _TYPES.get(each.type, "unknown"),
        "read_only": each.read_only,
        "sensitive": each.sensitive,
        "synonyms": [
            {"name": name, "value": value, "source": source_name(source)}
            for name, value, source in each.synonyms
        ],
        "documentation": each.documentation,
    }
