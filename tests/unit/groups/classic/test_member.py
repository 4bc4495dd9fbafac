"""A member by itself."""

from __future__ import annotations

from andiron.groups.classic.member import ClassicMember, protocols_of
from andiron.model.machine import Promise
from andiron.wire.messages.join_group import JoinGroupRequestProtocol


def member(**given) -> ClassicMember:
    return ClassicMember("m", None, "client", "/host", 1, 1, {"sticky": b"s", "range": b"r"}, **given)


def test_a_member_votes_for_what_it_likes_best_of_what_is_possible():
    assert member().vote({"range", "sticky"}) == "sticky"
    assert member().vote({"range", "robin"}) == "range"


def test_metadata_belongs_to_a_protocol():
    assert member().metadata("range") == b"r"
    assert member().metadata("robin") == b""
    assert member().metadata(None) == b""


def test_a_member_that_prefers_another_protocol_has_other_protocols():
    assert member().has_protocols({"sticky": b"s", "range": b"r"})
    assert not member().has_protocols({"range": b"r", "sticky": b"s"})
    assert not member().has_protocols({"sticky": b"s", "range": b"x"})
    assert not member().has_protocols({"sticky": b"s"})


def test_a_member_that_waits_may_be_silent_unless_it_is_new():
    assert not member().may_be_silent
    assert member(join=Promise()).may_be_silent
    assert member(sync=Promise()).may_be_silent
    assert not member(join=Promise(), is_new=True).may_be_silent


def test_a_protocol_named_twice_counts_once_where_it_came_first():
    named = [JoinGroupRequestProtocol(*each) for each in [("a", b"1"), ("b", b"2"), ("a", b"3")]]

    assert list(protocols_of(named).items()) == [("a", b"1"), ("b", b"2")]
