"""The coordinator's settings are Kafka's: names, types, defaults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from andiron.groups.settings import POLICIES, GroupSettings
from andiron.model.settings import rows

KAFKA = json.loads((Path(__file__).parents[2] / "golden" / "kafka_configs.json").read_text())["broker"]
# Kafka has it, with this default, and does not show it.
UNSHOWN = {"group.consumer.regex.refresh.interval.ms": ("INT", "600000")}


@pytest.mark.parametrize("row", rows(GroupSettings).values(), ids=lambda row: row.name)
def test_a_setting_has_kafkas_type_and_default(row):
    type_name, default, *_ = KAFKA.get(row.name) or UNSHOWN[row.name]

    assert row.type.name == type_name
    assert row.render(row.default) == default
    assert row.doc


def test_the_migration_policy_is_one_of_kafkas():
    assert GroupSettings().group_consumer_migration_policy in POLICIES
