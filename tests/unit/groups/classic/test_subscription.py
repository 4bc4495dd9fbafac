"""What the bytes of a subscription say about topics."""

from __future__ import annotations

import pytest

from andiron.groups.classic.subscription import subscribed_topics
from andiron.wire.consumer_protocol import AssignedTopic, Subscription, versioned_bytes


def said(*topics: str, version: int = 3) -> bytes:
    return versioned_bytes(Subscription(list(topics), b"", [AssignedTopic("owned", [1])], 5, "rack"), version)


@pytest.mark.parametrize("version", range(4))
def test_topics_are_read_in_every_version(version):
    assert subscribed_topics([said("a", "b", version=version)]) == {"a", "b"}


def test_members_read_what_any_of_them_names():
    assert subscribed_topics([said("a"), said("b", "a"), said()]) == {"a", "b"}


def test_no_subscriptions_are_no_topics():
    assert subscribed_topics([]) == frozenset()


def test_a_version_without_what_it_added_is_read_as_far_as_it_goes():
    assert subscribed_topics([b"\0\1" + said("a", version=0)[2:]]) == {"a"}


def test_a_version_from_the_future_is_read_as_far_as_it_is_known():
    assert subscribed_topics([b"\0\x63" + said("a")[2:] + b"more"]) == {"a"}


@pytest.mark.parametrize(
    "noise",
    [b"", b"\0", b"\0\0", b"\xff\xff" + said("a")[2:], said("a")[:9], b"\0\0\x7f\xff\xff\xff", b"sticky!"],
)
def test_bytes_that_are_no_subscription_make_it_unknown(noise):
    assert subscribed_topics([said("a"), noise]) is None
