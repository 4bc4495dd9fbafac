"""What is answered to those who ask how far a group has read."""

from __future__ import annotations

import pytest

from andiron.model.errors import ErrorCode, ProtocolError
from andiron.wire.messages.offset_fetch import OffsetFetchResponsePartitions
from worlds.offsets import Crowd, OffsetsWorld, topic_id

UNSTABLE = -ErrorCode.UNSTABLE_OFFSET_COMMIT.number


def test_an_offset_comes_back_as_it_was_committed():
    world = OffsetsWorld()
    world.commit({"t": {1: 5}}, metadata="half way", leader_epoch=3)

    response = world.fetch({"t": [1]})

    assert response.group_id == "g"
    assert response.error_code == 0
    assert response.topics[0].partitions == [OffsetFetchResponsePartitions(1, 5, 3, "half way", 0)]


def test_where_nothing_was_committed_the_offset_is_minus_one():
    world = OffsetsWorld()
    world.commit({"t": {1: 5}})

    assert world.fetch({"t": [0]}).topics[0].partitions == [OffsetFetchResponsePartitions(0, -1, -1, "", 0)]
    assert world.fetched({"t": [1, 99], "nix": [0]}) == {"t": {1: 5, 99: -1}, "nix": {0: -1}}


def test_without_topics_all_that_is_there_is_given():
    world = OffsetsWorld()
    world.commit({"t": {0: 1, 2: 2}, "u": {0: 3}})

    assert world.fetched() == {"t": {0: 1, 2: 2}, "u": {0: 3}}
    assert world.fetched({}) == {}


def test_a_group_that_nobody_knows_has_read_nothing():
    world = OffsetsWorld()

    assert world.fetched() == {}
    assert world.fetched({"t": [0]}) == {"t": {0: -1}}
    assert world.fetch().error_code == 0


def test_who_wants_stable_offsets_is_told_where_one_is_pending():
    world = OffsetsWorld()
    world.commit({"t": {0: 1, 1: 1}})
    world.commit_in_transaction({"t": {0: 5, 2: 5}})

    assert world.fetched({"t": [0, 1, 2]}) == {"t": {0: 1, 1: 1, 2: -1}}
    assert world.fetched({"t": [0, 1, 2]}, stable=True) == {"t": {0: UNSTABLE, 1: 1, 2: UNSTABLE}}
    assert world.fetched(stable=True) == {"t": {0: UNSTABLE, 1: 1}}

    world.end(7, commit=True)
    assert world.fetched({"t": [0, 1, 2]}, stable=True) == {"t": {0: 5, 1: 1, 2: 5}}


def test_an_unstable_answer_gives_nothing_away():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}}, metadata="m", leader_epoch=2)
    world.commit_in_transaction({"t": {0: 5}})

    (answer,) = world.fetch({"t": [0]}, stable=True).topics[0].partitions
    assert answer == OffsetFetchResponsePartitions(0, -1, -1, "", -UNSTABLE)


def test_a_group_is_asked_whether_its_member_may_ask():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.context.groups["g"] = Crowd(refuses=ErrorCode.STALE_MEMBER_EPOCH)

    with pytest.raises(ProtocolError, match="STALE_MEMBER_EPOCH"):
        world.fetch({"t": [0]}, version=9, member="m", epoch=3)


# ── topics by id ─────────────────────────────────────────────────────────────────────


def test_topics_go_by_id_from_version_10_on():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})

    some = world.fetch(ids={topic_id(1): [0, 1], topic_id(9): [0]}, version=10).topics
    assert [topic.topic_id for topic in some] == [topic_id(1), topic_id(9)]
    assert [each.committed_offset for each in some[0].partitions] == [1, -1]
    assert some[1].partitions == [
        OffsetFetchResponsePartitions(0, -1, -1, "", ErrorCode.UNKNOWN_TOPIC_ID.number)
    ]
    assert [topic.topic_id for topic in world.fetch(version=10).topics] == [topic_id(1)]


def test_by_id_a_topic_that_is_gone_is_not_among_all():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}, "u": {0: 2}})
    world.topics.delete("t")

    assert [topic.topic_id for topic in world.fetch(version=10).topics] == [topic_id(2)]
    assert world.fetched() == {"t": {0: 1}, "u": {0: 2}}


def test_the_offset_of_an_earlier_topic_of_that_name_is_not_given_to_the_new_one():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}})
    world.topics.delete("t")
    anew = world.topics.create("t", 3)

    assert world.fetch(ids={anew.id: [0]}, version=10).topics[0].partitions[0].committed_offset == -1
    assert world.fetched({"t": [0]}) == {"t": {0: 1}}

    world.commit({"t": {0: 7}})
    assert world.fetch(ids={anew.id: [0]}, version=10).topics[0].partitions[0].committed_offset == 7


def test_an_offset_whose_topic_id_is_not_known_is_given_to_whoever_asks():
    world = OffsetsWorld()
    world.commit({"t": {0: 1}}, version=2, retention_ms=5000)

    assert world.fetch(ids={topic_id(1): [0]}, version=10).topics[0].partitions[0].committed_offset == 1
