"""Which topics are copied, and which are a cluster's own."""

from __future__ import annotations

import pytest

from andiron.client.core.metadata import Topic
from andiron.copying.errors import CopyError
from andiron.copying.selection import check_patterns, is_chosen, is_internal, matches


def topic(name: str, internal: bool = False) -> Topic:
    return Topic(name, bytes(16), internal, [])


def test_without_a_pattern_all_are_copied_but_internal_ones() -> None:
    assert is_chosen(topic("orders"), [], [])
    assert not is_chosen(topic("__consumer_offsets", internal=True), [], [])
    assert not is_chosen(topic("__andiron_copy"), [], [])
    assert not is_chosen(topic("andiron.spark.commits"), [], [])
    assert not is_chosen(topic("mm2-offset-syncs.b.internal"), ["*"], [])


def test_patterns_choose_and_exclusions_go_before_them() -> None:
    assert is_chosen(topic("orders-eu"), ["orders*"], [])
    assert not is_chosen(topic("clicks"), ["orders*"], [])
    assert not is_chosen(topic("orders-test"), ["orders*"], ["*-test"])
    assert matches("a.b", ["a.?"]) and not matches("aXb", ["a.b"])


def test_a_pattern_that_nothing_is_like_is_refused() -> None:
    with pytest.raises(CopyError, match="no topic 'order'"):
        check_patterns([topic("orders")], ["order"])
    check_patterns([topic("orders")], ["order*"])


def test_an_internal_topic_is_not_copied_even_by_name() -> None:
    assert is_internal(topic("__transaction_state", internal=True))
    with pytest.raises(CopyError, match="internal"):
        check_patterns([topic("__consumer_offsets", internal=True)], ["__consumer_offsets"])
