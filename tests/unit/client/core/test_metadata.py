"""What a client believes about a cluster, and when it changes its mind."""

from __future__ import annotations

import pytest

from andiron.client.core.addresses import Address
from andiron.client.core.metadata import ClusterMetadata
from andiron.model.errors import ErrorCode, Refused, StaleMetadata
from andiron.model.ids import TopicPartition
from andiron.wire.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataResponse,
    MetadataTopic,
)

ID, OTHER_ID = b"a" * 16, b"b" * 16
P0 = TopicPartition("t", 0)


def answer(*topics: MetadataTopic) -> MetadataResponse:
    brokers = [MetadataBroker(1, "one", 9092), MetadataBroker(2, "two", 9093)]
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=2, topics=list(topics))


def topic(leader: int, epoch: int = 0, topic_id: bytes = ID, error: int = 0) -> MetadataTopic:
    partitions = [
        MetadataPartition(0, 1, leader, epoch, [1, 2], [1]),
        MetadataPartition(0, 0, leader, epoch, [1, 2], [1, 2]),
    ]
    return MetadataTopic(error, "t", topic_id, partitions=[] if error else partitions)


def known(*topics: MetadataTopic) -> ClusterMetadata:
    metadata = ClusterMetadata()
    for each in topics:
        metadata.update(answer(each), ["t"])
    return metadata


def test_an_answer_tells_the_cluster() -> None:
    metadata = known(topic(leader=1))

    assert metadata.cluster_id == "c"
    assert metadata.controller_id == 2
    assert metadata.brokers[2].address == Address("two", 9093)
    assert [each.number for each in metadata.topic("t").partitions] == [0, 1]
    assert metadata.topic("t").names() == [P0, TopicPartition("t", 1)]
    assert metadata.leader(P0) == 1


def test_an_unknown_topic_is_refused_and_not_retried() -> None:
    with pytest.raises(Refused) as caught:
        known(topic(leader=1, error=3)).topic("t")
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_other_errors_of_a_topic_keep_their_remedy() -> None:
    with pytest.raises(StaleMetadata):
        known(topic(leader=1, error=ErrorCode.LEADER_NOT_AVAILABLE.number)).topic("t")


def test_a_topic_that_was_asked_for_and_not_told_is_gone() -> None:
    metadata = known(topic(leader=1))
    metadata.update(answer(), ["t"])

    with pytest.raises(Refused):
        metadata.topic("t")


def test_a_topic_that_was_not_asked_for_stays() -> None:
    metadata = known(topic(leader=1))
    metadata.update(answer())

    assert metadata.leader(P0) == 1


@pytest.mark.parametrize("leader", [-1, 3])
def test_a_leader_that_is_no_broker_is_not_available(leader: int) -> None:
    with pytest.raises(StaleMetadata, match="no leader"):
        known(topic(leader)).leader(P0)


def test_a_partition_beyond_the_last_is_refused() -> None:
    with pytest.raises(Refused, match="partitions 0 to 1, not 2"):
        known(topic(leader=1)).partition(TopicPartition("t", 2))


def test_an_older_epoch_does_not_replace_a_newer_one() -> None:
    metadata = known(topic(leader=1, epoch=5), topic(leader=2, epoch=4))

    assert metadata.leader(P0) == 1


def test_a_newer_epoch_replaces_an_older_one() -> None:
    assert known(topic(leader=1, epoch=5), topic(leader=2, epoch=6)).leader(P0) == 2


def test_a_topic_made_again_begins_anew() -> None:
    assert known(topic(leader=1, epoch=5), topic(leader=2, epoch=0, topic_id=OTHER_ID)).leader(P0) == 2


def test_a_broker_without_epochs_is_believed() -> None:
    assert known(topic(leader=1, epoch=5), topic(leader=2, epoch=-1)).leader(P0) == 2


def test_writable_partitions_have_a_leader() -> None:
    assert known(topic(leader=1)).topic("t").writable() == [0, 1]
    assert known(topic(leader=-1)).topic("t").writable() == []


def test_an_id_is_shown_as_kafka_shows_it() -> None:
    assert known(topic(leader=1)).topic("t").id_text == "YWFhYWFhYWFhYWFhYWFhYQ"
