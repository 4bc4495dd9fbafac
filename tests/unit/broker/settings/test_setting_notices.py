"""Settings of Kafka's that a node does not have: ignored with a notice, or refused."""

from __future__ import annotations

from andiron.broker.settings.broker_settings import BROKER_ROWS
from andiron.broker.settings.setting_notices import notices, unknown, why_refused, why_without_effect


def test_a_name_that_no_table_lists_may_be_of_a_family_without_effect():
    assert "TLS" in why_without_effect("ssl.something.of.a.plugin")
    assert why_without_effect("log.retention.ms") is None


def test_a_name_stands_for_itself_unless_it_ends_in_a_dot():
    assert why_without_effect("leader.imbalance.per.broker.percentage.more") is None


def test_what_promises_protection_is_refused():
    assert "authorizer" in why_refused("super.users")
    assert why_refused("num.io.threads") is None


def test_a_notice_gathers_the_settings_of_one_reason():
    given = {"num.io.threads": "9", "node.id": "1", "ssl.keystore.location": "x", "background.threads": "9"}

    told = notices(given, BROKER_ROWS)

    assert len(told) == 2
    assert told[0].startswith("without effect: num.io.threads, background.threads (")


def test_kafkas_default_is_not_worth_a_notice():
    assert notices({"num.io.threads": "8", "preallocate.not": "x"}, BROKER_ROWS) == []


def test_an_unknown_name_is_compared_with_the_known():
    known = ["log.retention.ms", "log.segment.bytes"]

    assert str(unknown("log.retentoin.ms", known)).endswith("did you mean log.retention.ms?")
    assert str(unknown("colour", known)) == "colour: no such setting"
