"""Both clusters, and that what goes wrong says on which side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from andiron.client.blocking.client import Client
from andiron.copying.cluster_side import SOURCE, Side, check_distinct, is_behind, on
from andiron.copying.errors import CopyError
from andiron.copying.producer import CopyProducer
from andiron.model.errors import ErrorCode, Refused
from andiron.records.builder import build
from andiron.records.record import Record
from peers.ports import free_port

if TYPE_CHECKING:
    from unit.copying.conftest import Both


def test_an_error_names_its_side_and_a_missing_right_what_to_ask_for() -> None:
    with (
        pytest.raises(Refused, match="on the source: t: not yours; ask for the right to read") as error,
        on(SOURCE),
    ):
        raise ErrorCode.TOPIC_AUTHORIZATION_FAILED.error("t: not yours")
    assert error.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_cluster_that_nobody_answers_for_is_told_by_its_option() -> None:
    with (
        Client(f"127.0.0.1:{free_port()}") as client,
        pytest.raises(CopyError, match=r"the source does not answer.*--from"),
    ):
        Side(SOURCE, client, "--from").reach()


def test_a_cluster_is_not_copied_onto_itself() -> None:
    check_distinct("a", "b")
    with pytest.raises(CopyError, match="same cluster"):
        check_distinct("a", "a")


def test_what_there_is_to_know_of_topics(both: Both) -> None:
    both.write("a", "b")

    facts = both.source.facts([both.source.admin.topic(both.topic)])[both.topic]

    assert (facts.starts, facts.ends, facts.records_at_most) == ({0: 0}, {0: 2}, 2)
    assert facts.value("cleanup.policy") == "delete"
    assert both.source.ends([both.partition]) == {both.partition: (0, 2)}
    understood = both.source.understood()
    assert understood is not None and "retention.ms" in understood


def test_an_end_counts_when_all_that_the_copy_wrote_is_before_it(both: Both) -> None:
    with CopyProducer(both.source.client) as producer:
        producer.begin(both.partition, 0)
        producer.put(both.partition, build([Record(0, 1, None, b"a"), Record(0, 1, None, b"b")]), 2)

    assert both.source.settled([both.partition], producer.identity) == {both.partition: (0, 2)}


def test_a_sequence_is_an_offset_that_goes_round() -> None:
    assert is_behind(10, 10)
    assert not is_behind(11, 10)
    assert not is_behind((1 << 31) + 5, 4)
    assert is_behind((1 << 31) + 5, 7)
    assert not is_behind(7, -1)
