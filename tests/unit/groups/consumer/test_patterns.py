"""Which topics patterns mean, and when they are looked up."""

from __future__ import annotations

from andiron.groups.consumer.patterns import Matches, topics_matching
from andiron.model.ids import Millis
from groups.consumers import Catalogue


def test_a_pattern_matches_whole_names():
    names = ["orders", "orders.eu", "orders.us", "my.orders.eu", "returns.eu"]

    assert topics_matching(r"orders\..*", names) == ["orders.eu", "orders.us"]
    assert topics_matching("orders", names) == ["orders"]
    assert topics_matching(r"(orders|returns)\.eu", names) == ["orders.eu", "returns.eu"]
    assert topics_matching("", names) == []


def test_internal_topics_match_no_pattern():
    assert topics_matching(".*", ["a", "__consumer_offsets", "__transaction_state", "__mine"]) == [
        "__mine",
        "a",
    ]


# ── what patterns mean at the moment ─────────────────────────────────────────────────


def test_a_pattern_is_looked_up_again_when_topics_have_come():
    topics = Catalogue(a1=1, b=1)
    matches = Matches(topics, 60_000)
    assert matches.of("a.*", Millis(0)) == ("a1",)

    topics.put("a2", 1)

    assert matches.of("a.*", Millis(0)) == ("a1", "a2")


def test_a_pattern_is_looked_up_again_after_a_time():
    topics = Catalogue(a=1)
    matches = Matches(topics, 60_000)
    matches.of("a.*", Millis(0))
    version = topics.version
    topics.put("ab", 1)
    topics.version = version

    assert matches.of("a.*", Millis(60_000)) == ("a",)
    assert matches.of("a.*", Millis(60_001)) == ("a", "ab")


def test_a_pattern_that_another_broker_let_in_means_nothing():
    assert Matches(Catalogue(a=1), 60_000).of("(", Millis(0)) == ()


def test_a_pattern_that_is_not_used_is_forgotten_after_a_time():
    matches = Matches(Catalogue(a=1), 60_000)
    for number in range(1_000):
        matches.of(f"a{number}", Millis(1_000 * number))

    assert len(matches) <= 61
