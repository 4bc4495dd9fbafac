"""How answers are read."""

from __future__ import annotations

import pytest

from andiron.client.core.answer_errors import by_topic, check_error, error_in
from andiron.model.errors import ErrorCode, Refused, Retriable
from andiron.model.ids import TopicPartition


def test_success_is_no_error() -> None:
    assert error_in(0, None, "it") is None
    check_error(0, "whatever", "it")


def test_an_error_begins_with_what_it_is_about() -> None:
    error = error_in(14, None, "group 'g'")

    assert isinstance(error, Retriable)
    assert error.detail == "group 'g': the coordinator is still reading its log"


def test_the_brokers_own_words_are_preferred() -> None:
    with pytest.raises(Refused, match="group 'g': not today"):
        check_error(ErrorCode.GROUP_ID_NOT_FOUND.number, "not today", "group 'g'")


def test_a_name_that_is_not_there_is_not_asked_for_again() -> None:
    with pytest.raises(Refused, match="there is no topic 'x'"):
        check_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number, None, "topic 'x'")


def test_partitions_are_grouped_in_their_order() -> None:
    a0, b0, a1 = TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("a", 1)

    assert by_topic([a1, b0, a0]) == [("a", [a1, a0]), ("b", [b0])]
