"""Listeners and voters are read from their settings, and bad ones are named."""

from __future__ import annotations

import pytest

from andiron.broker.settings.listeners import (
    Listener,
    Voter,
    check_ports,
    parse_http,
    parse_listeners,
    parse_protocols,
    parse_servers,
    parse_voters,
)
from andiron.model.settings import SettingError


@pytest.mark.parametrize(
    ("text", "listener"),
    [
        ("PLAINTEXT://:9092", Listener("PLAINTEXT", "", 9092)),
        ("inside://broker-1:0", Listener("INSIDE", "broker-1", 0)),
        ("A://[::1]:9092", Listener("A", "::1", 9092)),
        ("A://127.0.0.1:65535", Listener("A", "127.0.0.1", 65535)),
    ],
)
def test_a_listener_has_a_name_a_host_and_a_port(text, listener):
    assert parse_listeners("listeners", [text]) == [listener]


@pytest.mark.parametrize(
    "text", ["localhost:9092", "://h:1", "A://h", "A://h:", "A://h:x", "A://h:65536", "A://h:-1", "A://h/b:1"]
)
def test_what_is_not_a_listener_is_named(text):
    with pytest.raises(SettingError, match="listeners: "):
        parse_listeners("listeners", [text])


def test_two_listeners_cannot_have_one_name():
    with pytest.raises(SettingError, match="A is there twice"):
        parse_listeners("listeners", ["A://:1", "a://:2"])


def test_an_ipv6_address_is_shown_in_brackets():
    assert str(Listener("A", "::1", 9092)) == "A://[::1]:9092"


@pytest.mark.parametrize(("one", "other"), [("", ""), ("h", "h"), ("", "h"), ("0.0.0.0", "h"), ("h", "::")])
def test_two_listeners_cannot_share_a_port_of_one_address(one, other):
    with pytest.raises(SettingError, match=r"A://.*:1 and B://.*:1 share a port"):
        check_ports([Listener("A", one, 1), Listener("B", other, 1)])


def test_ports_may_be_the_same_on_different_addresses_and_where_any_free_one_will_do():
    check_ports([Listener("A", "127.0.0.1", 1), Listener("B", "::1", 1)])
    check_ports([Listener("A", "", 0), Listener("B", "", 0)])


def test_a_voter_is_a_node_and_its_address():
    assert parse_voters("v", ["1@localhost:9093", "2@b:1"]) == {
        1: Voter(1, "localhost", 9093),
        2: Voter(2, "b", 1),
    }


@pytest.mark.parametrize("texts", [["localhost:9093"], ["x@h:1"], ["1@:9093"], ["1@h"], ["1@a:1", "1@b:1"]])
def test_what_is_not_a_voter_is_named(texts):
    with pytest.raises(SettingError, match="v: "):
        parse_voters("v", texts)


def test_servers_are_hosts_and_ports():
    assert parse_servers("s", ["a:1", "[::1]:2"]) == [("a", 1), ("::1", 2)]
    with pytest.raises(SettingError, match="s: 'a' has no port"):
        parse_servers("s", ["a"])


def test_protocols_go_by_the_listeners_name():
    assert parse_protocols("m", "a:plaintext, B:SSL") == {"A": "PLAINTEXT", "B": "SSL"}
    with pytest.raises(SettingError, match="m: 'a' is not a pair"):
        parse_protocols("m", "a")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("http://localhost:9644", "localhost", 9644), ("HTTP://:0/", "", 0), ("http://[::1]:80", "::1", 80)],
)
def test_where_something_is_served_over_http(text, host, port):
    assert parse_http("metrics.listener", text) == Listener("http", host, port)


@pytest.mark.parametrize("text", [None, ""])
def test_nothing_given_is_nowhere(text):
    assert parse_http("metrics.listener", text) is None


@pytest.mark.parametrize(
    "text", ["localhost:9644", "https://localhost:9644", "http://localhost", "http://a b:1"]
)
def test_an_address_that_is_none_is_refused(text):
    with pytest.raises(SettingError, match=r"metrics\.listener"):
        parse_http("metrics.listener", text)
