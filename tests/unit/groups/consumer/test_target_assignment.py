"""Who votes for which assignor, what a change of topics comes to, and what assignors are given."""

from __future__ import annotations

from andiron.groups.consumer.member import Member, Profile
from andiron.groups.consumer.target_assignment import (
    make_targets,
    metadata_hash,
    preferred_assignor,
    subscribed_ids,
)
from groups.consumers import Catalogue

BOTH = ("uniform", "range")


def member(id: str, *topics: str, pattern: str = "", assignor: str | None = None) -> Member:
    return Member(id, Profile(topics=topics, pattern=pattern, assignor=assignor))


def test_the_majority_has_its_assignor():
    votes = [member("a", assignor="range"), member("b", assignor="range"), member("c", assignor="uniform")]

    assert preferred_assignor(votes, BOTH) == "range"
    assert preferred_assignor(votes[1:], BOTH) == "uniform"
    assert preferred_assignor([], BOTH) == "uniform"
    assert preferred_assignor([member("a", assignor="gone")], ("range",)) == "range"


def test_the_hash_tells_topics_apart_and_their_sizes():
    topics = Catalogue(t=1, u=1)
    seen = {metadata_hash(names, topics) for names in (["t"], ["u"], ["t", "u"], [])}
    topics.put("t", 2)
    seen.add(metadata_hash(["t"], topics))

    assert len(seen) == 5
    assert metadata_hash(["nowhere"], topics) == 0
    assert -(1 << 63) <= metadata_hash(["t", "u"], topics) < 1 << 63


def test_targets_begin_with_the_last_ones():
    topics = Catalogue(t=2)
    t = topics.id("t")
    members = [member("a", "t"), member("b", "t")]

    targets = make_targets(members, "uniform", {"b": {t: (0,)}}, {}, topics)

    assert targets == {"a": {t: (1,)}, "b": {t: (0,)}}


def test_patterns_count_as_what_they_mean():
    topics = Catalogue(t=1, u=1)
    members = [member("a", "t", pattern="u.*")]

    targets = make_targets(members, "range", {}, {"u.*": ("u",)}, topics)

    assert targets == {"a": {topics.id("t"): (0,), topics.id("u"): (0,)}}


def test_topics_that_are_not_there_have_no_ids():
    topics = Catalogue(t=1)

    assert subscribed_ids(["nowhere", "t"], topics) == (topics.id("t"),)
