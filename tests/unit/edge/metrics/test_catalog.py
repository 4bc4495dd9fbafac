"""All metrics together: each once, told, and in the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from andiron.edge.metrics.catalog import FAMILIES, SECTIONS, scraper
from andiron.edge.metrics.families import HISTOGRAM, as_markdown
from unit.edge.metrics.scraped import host_of, scraped
from worlds.coordinating import commit, coordinating

ROOT = Path(__file__).parents[4]


def test_every_metric_has_a_name_of_its_own():
    names = [family.name for family in FAMILIES]
    assert len(names) == len(set(names))


def test_prometheus_own_library_reads_all_of_it():
    parser: Any = pytest.importorskip("prometheus_client.parser")
    world = coordinating()
    world.produce("t", b"a")
    assert commit(world, 0, group='a "name"\nwith everything \\') == "NONE"
    text = b"".join(scraper(host_of(world.node, world.now), world.node)()).decode()

    read = {family.name: family for family in parser.text_string_to_metric_families(text)}

    assert len(read) == len(FAMILIES)
    for family in FAMILIES:
        assert read[family.name.removesuffix("_total")].type == family.kind


def test_samples_have_the_labels_that_the_row_names():
    world = coordinating()
    world.produce("t", b"a")
    assert commit(world, 0) == "NONE"
    rows = {family.name: family for family in FAMILIES}
    for key in scraped(world):
        name, _, labels = key.partition("{")
        row = rows.get(name) or rows[name.rpartition("_")[0]]
        told = [pair.partition("=")[0] for pair in labels.rstrip("}").split('",') if pair]
        assert told == [*row.labels, *(["le"] if name.endswith("_bucket") else [])], key
        assert row.kind != HISTOGRAM or name != row.name


@pytest.mark.parametrize("section", SECTIONS)
def test_the_reference_lists_them_all(section):
    page = (ROOT / "docs" / "metrics.md").read_text()

    assert f"### {section}\n\n{as_markdown(SECTIONS[section])}\n" in page, "run `make docs`"


def test_the_rules_ask_for_metrics_that_there_are():
    import re

    names = {family.name for family in FAMILIES}
    for path in (ROOT / "deploy" / "prometheus").glob("*.yml"):
        for found in re.findall(r"\bandiron_[a-z_]+\b", path.read_text()):
            plain = re.sub(r"_(bucket|sum|count)$", "", found)
            assert found in names or plain in names, f"{path.name}: {found}"


def test_a_bug_in_what_is_told_is_counted():
    world = coordinating()
    host = host_of(world.node, world.now)
    del world.node.broker.alter_partition_manager.shrinks

    with pytest.raises(AttributeError):
        b"".join(scraper(host, world.node)())
    assert host.failures == 1
