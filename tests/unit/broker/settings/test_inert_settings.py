"""Kafka's settings without effect: rows like others, and some of them with their default alone."""

from __future__ import annotations

import pytest

from andiron.broker.settings.inert_settings import inert_rows
from andiron.model.settings import SettingError

ROWS = inert_rows()


def test_a_setting_without_effect_is_checked_and_says_why_it_has_none():
    row = ROWS["num.io.threads"]

    assert row.parse("16") == 16
    assert row.doc == "Without effect: one loop handles all requests, so there are no threads to count."
    with pytest.raises(SettingError, match="below 1"):
        row.parse("0")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
        ("sasl.enabled.mechanisms", "PLAIN"),
        ("ssl.client.auth", "required"),
        ("create.topic.policy.class.name", "com.example.Policy"),
        ("remote.log.storage.system.enable", "true"),
    ],
)
def test_what_promises_protection_is_refused(name, asked):
    with pytest.raises(SettingError, match=f"{name}: not supported: "):
        ROWS[name].parse(asked)


@pytest.mark.parametrize("name", ["authorizer.class.name", "sasl.enabled.mechanisms", "ssl.client.auth"])
def test_its_default_is_taken(name):
    row = ROWS[name]

    assert row.parse(row.render(row.default)) == row.default
