"""Writes the reference pages from the tables: `python -m andiron.cli.reference docs`.

    settings.md   every setting of topics, brokers and clients, from the rows that the program reads
    apis.md       every API that a node serves, from the table by which it serves them
    metrics.md    every metric, from the table by which they are told; what stands before the tables is written by hand

What is generated cannot go out of date; `make docs` writes them.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from andiron.broker.handlers import HANDLERS, Handler
from andiron.broker.settings.broker_settings import BROKER_ROWS, GROUP_ROWS, TOPIC_ROWS
from andiron.broker.settings.listeners import Scope
from andiron.broker.telemetry.client_metrics import CLIENT_METRICS_ROWS
from andiron.cli.hints import DEFAULT_HOST, DEFAULT_PORT
from andiron.cli.local_cluster.layout import lay_out
from andiron.cli.up import node_by_itself
from andiron.client.settings import ClientSettings, ProducerSettings, ReaderSettings
from andiron.edge.metrics import families
from andiron.edge.metrics.catalog import SECTIONS as METRICS
from andiron.model.settings import as_markdown, inert_as_markdown, rows
from andiron.wire.apis import APIS
from andiron.wire.schema import NEVER

SETTINGS_HEAD = """\
# Settings

Names, types and defaults are Kafka's, and every setting of Kafka 4.3 is known. Those in the last section have no
effect: they are accepted, checked and shown as Kafka does it, and whoever gives one a value that is not its default is
told so in the log. What asks for protection that is not there (an authorizer, TLS, SASL, a policy) is refused unless
it is Kafka's default. A name that nobody knows is refused.

"changes" tells when a new value counts: live ones are changed by `andiron config set`, the others in
`server.properties` or by `andiron up --set`.
"""

UP_HEAD = """\
## What `andiron up` sets

Without `--config` it makes the settings of a node by itself, or with `--brokers` of each node, here the first of three
on the default ports; with fewer, there are as many replicas as nodes, and one in sync is enough. `--set` goes before
all but what lays out a cluster. With `--config` it sets nothing: what a file leaves out has the default of the tables
below.

| setting | default | a node by itself | with `--brokers 3` |
| --- | --- | --- | --- |
"""
UP_FOOT = """
`--data` is `log.dirs`, `--host`, `--port` and `--controller-port` are in `listeners`, `--metrics 9644` is
`metrics.listener=http://localhost:9644`, and `--fsync` is `log.flush.interval.messages=1`.
"""

SECTIONS = (
    ("Topics", "Given at `andiron topic create --config` or later.", TOPIC_ROWS),
    ("Brokers", "Of a node, and what topics have that set nothing themselves.", BROKER_ROWS),
    ("Groups", "Of a group that assigns on the broker: `kafka-configs --entity-type groups`.", GROUP_ROWS),
    (
        "Client metrics",
        "Of a subscription to the metrics of clients, made by `kafka-client-metrics`.",
        CLIENT_METRICS_ROWS,
    ),
    ("Clients", "Of every client in `andiron.client`.", rows(ClientSettings)),
    ("Producers", "Beside those of every client.", rows(ProducerSettings)),
    ("Readers", "Beside those of every client.", rows(ReaderSettings)),
)

APIS_HEAD = """\
# APIs

What a node serves of Kafka's protocol: {all} APIs. Each port serves, and tells by ApiVersions, its own part of them:
{brokers} where clients connect (9092), {controllers} where controllers listen (9093 of a node by itself); "port" says
which. Versions are told as they are served, except where "told" says otherwise.

| key | API | port | versions | told | flexible from | what it does |
| ---: | --- | --- | --- | --- | --- | --- |
"""
PORTS = {Scope.BROKER: "clients'", Scope.CONTROLLER: "controllers'", Scope.BOTH: "both"}


def settings_page() -> str:
    """docs/settings.md."""
    parts = [SETTINGS_HEAD, what_up_sets()]
    for title, about, table in SECTIONS:
        parts.append(f"## {title}\n\n{about}\n\n{as_markdown(table[name] for name in sorted(table))}\n")
    parts.append("## Without effect\n")
    for title, _, table in SECTIONS:
        if any(row.inert for row in table.values()):
            parts.append(f"### {title}\n\n{inert_as_markdown(table[name] for name in sorted(table))}\n")
    return "\n".join(parts)


def what_up_sets() -> str:
    """The section of docs/settings.md on what `andiron up` decides, from what it decides by."""
    lone = node_by_itself(DEFAULT_HOST, DEFAULT_PORT) | {"log.dirs": "…/data"}
    layout = lay_out(3, DEFAULT_PORT, {}, is_free=lambda port: True)
    first = layout.properties(layout.nodes[0], "…/data/node-1/data", {})
    names = sorted({**lone, **first})
    lines = [
        f"| `{name}` | {_code(_default(name))} | {_code(lone.get(name))} | {_code(first.get(name))} |\n"
        for name in names
    ]
    return UP_HEAD + "".join(lines) + UP_FOOT


def _default(name: str) -> str | None:
    row = BROKER_ROWS[name]
    return row.render(row.default)


def _code(value: str | None) -> str:
    return f"`{value}`" if value else ""


def apis_page() -> str:
    """docs/apis.md."""
    told = {scope: sum(scope in each.scope for each in HANDLERS.values()) for scope in Scope}
    head = APIS_HEAD.format(all=len(HANDLERS), brokers=told[Scope.BROKER], controllers=told[Scope.CONTROLLER])
    return head + "".join(f"{_api_row(HANDLERS[key])}\n" for key in sorted(HANDLERS))


def metrics_page(page: str) -> str:
    """docs/metrics.md, with the tables at its end anew."""
    before, _, _ = page.partition("### " + next(iter(METRICS)))
    tables = [f"### {title}\n\n{families.as_markdown(table)}\n" for title, table in METRICS.items()]
    return before + "\n".join(tables)


def purpose(docstring: str) -> str:
    """What a handler's card says it does: behind the first line's colon, else the first sentence below."""
    first, _, rest = docstring.partition("\n")
    _, colon, told = first.partition(": ")
    if not colon:
        told = " ".join(rest.split()).partition(". ")[0]
    return told.strip().rstrip(".")


def _api_row(handler: Handler) -> str:
    api = APIS[handler.api]
    told = "" if handler.advertised == handler.served else _span(handler.advertised)
    flexible = "" if api.flexible_since == NEVER else str(api.flexible_since)
    what = purpose(import_module(handler.handle.__module__).__doc__ or "")
    port = PORTS[handler.scope]
    return f"| {api.key} | {api.name} | {port} | {_span(handler.served)} | {told} | {flexible} | {what} |"


def _span(versions: tuple[int, int]) -> str:
    first, last = versions
    return str(first) if first == last else f"{first}-{last}"


def main(folder: str) -> None:
    """Write the pages into a folder."""
    os.makedirs(folder, exist_ok=True)
    pages = {"settings.md": settings_page(), "apis.md": apis_page()}
    by_hand = os.path.join(folder, "metrics.md")
    if os.path.exists(by_hand):
        with open(by_hand, encoding="utf-8") as file:
            pages["metrics.md"] = metrics_page(file.read())
    for name, page in pages.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(page)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "docs")
