"""Logs that change while two streams follow them: Spark's own connector and ours must see the same.

Continues tests/spark/test_parity.py. Here a scenario is a function: what happens to the log, and when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from peers.assortment import BEGINNING, EAGER, MINUTE
from peers.clients.base import Record
from peers.waiting import eventually

if TYPE_CHECKING:
    from peers.connectors import Both
    from peers.topics import Topics

FROM_START = {"startingOffsets": "earliest"}


def values(rows: Any) -> list[str]:
    """The values in the order of partitions and offsets."""
    assert isinstance(rows, list), rows.says
    return [row.value.decode() for row in rows]


def test_a_partition_that_appears_is_read_from_its_beginning(both: Both, topics: Topics) -> None:
    topic = topics.make(1)
    topics.write(topic, ["a"])
    with both.follow({"subscribe": topic}) as streams:  # from the latest, which a new partition is not
        assert values(streams.catch_up()) == []
        topics.grow(topic, 2)
        topics.write(topic, ["b", "c"], partition=1)
        topics.write(topic, ["d"])
        assert values(streams.catch_up()) == ["d", "b", "c"]


def test_a_topic_that_appears_is_read_when_the_pattern_matches_it(both: Both, topics: Topics) -> None:
    topics.write(topics.make(1), ["a"])
    with both.follow({"subscribePattern": f"{topics.name}.*"} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["a"]
        topics.write(topics.make(1), ["b"])
        assert values(streams.catch_up()) == ["a", "b"]


def test_a_stream_goes_on_where_it_stopped(both: Both, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, ["a", "b"])
    with both.follow({"subscribe": topic, "maxOffsetsPerTrigger": "1"} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["a", "b"]
        streams.stop()
        topics.write(topic, ["c"])
        topics.write_transaction(topic, ["d"], partition=1)
        streams.start()
        assert values(streams.catch_up()) == ["a", "b", "c", "d"]


def test_a_transaction_is_seen_when_it_is_committed(both: Both, topics: Topics) -> None:
    topic = topics.make(1)
    committed = {"subscribe": topic, "kafka.isolation.level": "read_committed"} | FROM_START
    with both.follow(committed) as streams:
        producer = topics.begin_transaction(topic, ["a", "b"])
        topics.write(topic, ["c"])
        assert values(streams.catch_up()) == []
        producer.commit_transaction()
        assert values(streams.catch_up()) == ["a", "b", "c"]
        topics.write_transaction(topic, ["never"], commit=False)
        topics.write(topic, ["d"])
        assert values(streams.catch_up()) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("fails", [True, False])
def test_records_deleted_before_they_were_read(fails: bool, both: Both, topics: Topics) -> None:
    topic = topics.make(1)
    topics.write(topic, ["a", "b"])
    with both.follow({"subscribe": topic, "failOnDataLoss": str(fails).lower()} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["a", "b"]
        streams.stop()
        topics.write(topic, ["c", "d", "e"])
        topics.delete_before(topic, 4)
        streams.start()
        outcome = streams.catch_up()
        if fails:
            assert "failOnDataLoss" in outcome
        else:
            assert values(outcome) == ["a", "b", "e"]


def test_a_topic_made_anew_under_the_same_name_is_a_loss(both: Both, topics: Topics) -> None:
    topic = topics.make(1)
    topics.write(topic, ["a", "b", "c"])
    with both.follow({"subscribe": topic} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["a", "b", "c"]
        streams.stop()
        make_anew(topics, topic, ["d"])
        streams.start()
        assert "failOnDataLoss" in streams.catch_up()


def test_where_losses_do_not_matter_ours_reads_the_new_topic_from_its_beginning(
    both: Both, topics: Topics
) -> None:
    """They differ here: the stock connector goes on at the new end, and has lost one record more."""
    topic = topics.make(1)
    topics.write(topic, ["a", "b", "c"])
    with both.follow({"subscribe": topic, "failOnDataLoss": "false"} | FROM_START) as streams:
        streams.catch_up()
        streams.stop()
        make_anew(topics, topic, ["d"])
        streams.start()
        found = streams.outcomes()
        assert values(found["kafka"]) == ["a", "b", "c"]
        assert sorted(values(found["andiron"])) == ["a", "b", "c", "d"]


def test_a_checkpoint_goes_from_one_connector_to_the_other_and_back(both: Both, topics: Topics) -> None:
    topic = topics.make(2)
    topics.write(topic, ["a", "b"])
    with both.follow({"subscribe": topic} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["a", "b"]
        for new in ("c", "d", "e"):
            streams.stop()
            streams.change_places()
            topics.write(topic, [new], partition=1)
            streams.start()
            assert values(streams.catch_up())[-1] == new
        assert values(streams.catch_up()) == ["a", "b", "c", "d", "e"]


def test_a_checkpoint_of_ours_goes_to_a_copy_of_its_topic_by_a_batch_of_the_stock_connector(
    both: Both, topics: Topics
) -> None:
    """As docs/moving.md has it: ours knows its topic by its id, the stock connector only where it was."""
    topic = topics.make(1)
    topics.write(topic, ["a", "b"])
    with both.follow({"subscribe": topic} | FROM_START) as streams:
        streams.catch_up()
        streams.stop()
        make_anew(topics, topic, ["a", "b", "c"])  # as a copy that keeps the offsets does
        streams.start()
        found = streams.outcomes()
        assert values(found["kafka"]) == ["a", "b", "c"]
        assert "failOnDataLoss" in found["andiron"]
        for new in ("d", "e"):
            streams.stop()
            streams.change_places()
            topics.write(topic, [new])
            streams.start()
            assert values(streams.catch_up())[-1] == new
        assert values(streams.catch_up()) == ["a", "b", "c", "d", "e"]


def make_anew(topics: Topics, topic: str, records: list[str]) -> None:
    topics.delete(topic)
    topics.make(1, topic)
    topics.write(topic, records)


def test_records_compacted_away_before_they_were_read_are_no_loss(both: Both, topics: Topics) -> None:
    topic = topics.make(1, **EAGER)
    topics.write(topic, [Record(b"key", b"old", (), BEGINNING)])
    with both.follow({"subscribe": topic} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["old"]
        streams.stop()
        topics.write(topic, [Record(b"key", b"%d" % number, (), BEGINNING) for number in range(10)])
        topics.write(topic, [Record(b"key", b"new", (), BEGINNING + 60 * MINUTE)])
        eventually(lambda: len(topics.read(topic)) == 2)
        streams.start()
        assert values(streams.catch_up()) == ["old", "9", "new"]


def test_a_checkpoint_of_another_topic_is_refused(both: Both, topics: Topics) -> None:
    one, another = topics.make(1), topics.make(1)
    topics.write(one, ["a"])
    topics.write(another, ["b"])
    with both.follow({"subscribe": one} | FROM_START) as streams:
        assert values(streams.catch_up()) == ["a"]
        streams.stop()
        streams.options["subscribe"] = another
        streams.start()
        assert not isinstance(streams.catch_up(), list)
