"""The reference pages come from the tables, all of them."""

from __future__ import annotations

from pathlib import Path

from andiron.broker.handlers import HANDLERS
from andiron.broker.settings.broker_settings import BROKER_ROWS, TOPIC_ROWS
from andiron.cli.reference import apis_page, main, purpose, settings_page, what_up_sets
from andiron.edge.metrics.catalog import FAMILIES
from andiron.wire.apis import APIS
from andiron.wire.messages.api_versions import ApiVersionsRequest
from worlds.node import SmallNode


def test_every_setting_has_a_line() -> None:
    page = settings_page()

    for row in [*BROKER_ROWS.values(), *TOPIC_ROWS.values()]:
        assert row.internal or (f"`{row.name}`" if row.inert else f"| `{row.name}` |") in page
    assert "| `enable.idempotence` |" in page


def test_every_api_served_has_a_line() -> None:
    page = apis_page()

    for key in HANDLERS:
        assert f"| {key} | {APIS[key].name} |" in page
    assert page.count("\n| ") == len(HANDLERS) + 2


def test_each_port_tells_what_the_page_says_it_does() -> None:
    page, node = apis_page(), SmallNode()
    node.connect(9, "CONTROLLER")
    question = ApiVersionsRequest("test", "1")
    clients = {each.api_key for each in node.ask(question, 4).api_keys}
    controllers = {each.api_key for each in node.ask(question, 4, conn=9).api_keys}

    for keys, port in (
        (clients - controllers, "clients'"),
        (controllers - clients, "controllers'"),
        (clients & controllers, "both"),
    ):
        assert page.count(f" | {port} | ") == len(keys)
        assert all(f"| {key} | {APIS[key].name} | {port} |" in page for key in keys)
    assert f"{len(clients)} where clients connect (9092), {len(controllers)} where controllers listen" in page


def test_it_is_told_what_up_sets_of_itself() -> None:
    page = what_up_sets()

    assert page in settings_page()
    assert "| `group.initial.rebalance.delay.ms` | `3000` | `0` | `0` |" in page
    assert "| `offsets.topic.replication.factor` | `3` | `1` | `3` |" in page
    assert "| `min.insync.replicas` | `1` |  | `2` |" in page


def test_a_card_says_what_it_does_in_its_first_line_or_below() -> None:
    assert (
        purpose("Fetch (key 1), versions 4-18: records from partitions.\n\nMore.")
        == "records from partitions"
    )
    assert (
        purpose("Produce (key 0), versions 3-13.\n\nAnswers when\nready. And so on.") == "Answers when ready"
    )


def test_both_pages_are_written(tmp_path: Path) -> None:
    main(str(tmp_path / "docs"))

    assert (tmp_path / "docs" / "settings.md").read_text() == settings_page()
    assert (tmp_path / "docs" / "apis.md").read_text() == apis_page()


def test_the_tables_of_metrics_are_written_below_what_is_there(tmp_path: Path) -> None:
    page = tmp_path / "metrics.md"
    page.write_text("# Metrics\n\nBy hand.\n\n### Replication\n\nan old table\n")

    main(str(tmp_path))
    once = page.read_text()
    main(str(tmp_path))

    assert page.read_text() == once
    assert once.startswith("# Metrics\n\nBy hand.\n\n### Replication\n\n| metric |")
    assert "an old table" not in once
    assert all(f"| `{family.name}` |" in once for family in FAMILIES)
