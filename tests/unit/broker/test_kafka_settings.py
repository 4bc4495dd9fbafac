"""Settings of Kafka's that a node does not have: ignored with a notice, or refused."""

from __future__ import annotations

from andiron.broker.kafka_settings import notices, unknown, why_refused, why_without_effect


def test_a_setting_without_effect_has_a_reason():
    assert "threads" in why_without_effect("num.io.threads")
    assert "share and streams" in why_without_effect("group.share.max.size")
    assert why_without_effect("log.retention.ms") is None


def test_a_name_stands_for_itself_unless_it_ends_in_a_dot():
    assert why_without_effect("num.io.threads.more") is None


def test_what_promises_protection_is_refused():
    assert "authorizer" in why_refused("authorizer.class.name")
    assert why_refused("num.io.threads") is None


def test_a_notice_gathers_the_settings_of_one_reason():
    told = notices(["num.io.threads", "node.id", "ssl.keystore.location", "num.network.threads"])

    assert len(told) == 2
    assert told[0].startswith("without effect: num.io.threads, num.network.threads (")


def test_an_unknown_name_is_compared_with_the_known():
    known = ["log.retention.ms", "log.segment.bytes"]

    assert str(unknown("log.retentoin.ms", known)).endswith("did you mean log.retention.ms?")
    assert str(unknown("colour", known)) == "colour: no such setting"
