"""The reference pages come from the tables, all of them."""

from __future__ import annotations

from pathlib import Path

from andiron.broker.handlers import HANDLERS
from andiron.broker.settings import BROKER_ROWS, TOPIC_ROWS
from andiron.cli.reference import apis_page, main, purpose, settings_page
from andiron.edge.metrics.catalog import FAMILIES
from andiron.wire.apis import APIS


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
