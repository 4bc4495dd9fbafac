"""Who may commit which offsets, and what is written then."""

from __future__ import annotations

import pytest

from andiron.groups.group import Caller
from andiron.groups.offsets import commits
from andiron.groups.offsets.records import OffsetCommitKey, OffsetCommitValue
from andiron.groups.records import GroupRecord
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.machine import InTransaction
from andiron.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from andiron.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from worlds.offsets import Crowd, OffsetsWorld, errors, topic_id

FINE, UNKNOWN = "NONE", "UNKNOWN_TOPIC_OR_PARTITION"


def refusal(of) -> str:
    with pytest.raises(ProtocolError) as refused:
        of()
    return refused.value.code.name


def test_offsets_that_cannot_be_written_at_once_are_refused():
    context = OffsetsWorld()
    context.context.batch_max = lambda: 300

    assert context.decide_commit({"t": {0: 5, 2: 6}}).records
    assert (
        refusal(lambda: context.decide_commit({"t": {0: 5, 2: 6}}, metadata="m" * 200))
        == "UNKNOWN_SERVER_ERROR"
    )


# ── what is written ──────────────────────────────────────────────────────────────────


def test_a_commit_is_one_decision_with_a_record_for_each_partition():
    context = OffsetsWorld()
    decision = context.decide_commit({"t": {0: 5, 2: 6}}, metadata="m", leader_epoch=4)

    assert decision.records == [
        GroupRecord(
            OffsetCommitKey("g", "t", partition),
            OffsetCommitValue(offset, 4, "m", context.now, -1, topic_id(1)),
        )
        for partition, offset in [(0, 5), (2, 6)]
    ]
    assert decision.firm
    assert decision.transaction is None
    assert errors(decision.response) == {"t": {0: FINE, 2: FINE}}


def test_deciding_changes_nothing():
    context = OffsetsWorld()

    assert context.decide_commit({"t": {0: 5}}) == context.decide_commit({"t": {0: 5}})
    assert list(context.offsets) == []


def test_no_metadata_is_written_as_an_empty_text():
    (record,) = OffsetsWorld().decide_commit({"t": {0: 5}}, metadata=None).records

    assert record.value.metadata == ""


def test_a_retention_time_makes_an_offset_expire_by_itself():
    context = OffsetsWorld()
    (record,) = context.decide_commit({"t": {0: 5}}, version=2, retention_ms=1000).records
    (endless,) = context.decide_commit({"t": {0: 5}}, version=2, retention_ms=(1 << 63) - 1).records

    assert record.value.expire_timestamp == context.now + 1000
    assert endless.value.expire_timestamp == (1 << 63) - 1


# ── partitions ───────────────────────────────────────────────────────────────────────


def test_a_partition_that_is_not_there_is_told_so_and_the_others_are_written():
    context = OffsetsWorld()

    assert context.commit({"t": {0: 5, 3: 5, -1: 5}, "nix": {0: 5}}) == {
        "t": {0: FINE, 3: UNKNOWN, -1: UNKNOWN},
        "nix": {0: UNKNOWN},
    }
    assert context.fetched() == {"t": {0: 5}}


def test_too_much_metadata_is_refused_for_its_partition():
    context = OffsetsWorld(offset_metadata_max_bytes=4)

    assert context.commit({"t": {0: 5}}, metadata="xxxx") == {"t": {0: FINE}}
    assert context.commit({"t": {0: 6}}, metadata="xxxxx") == {"t": {0: "OFFSET_METADATA_TOO_LARGE"}}
    assert context.fetched() == {"t": {0: 5}}


def test_topics_go_by_id_from_version_10_on():
    context = OffsetsWorld()
    parts = [OffsetCommitRequestPartition(0, 5), OffsetCommitRequestPartition(8, 5)]
    request = OffsetCommitRequest(
        "g",
        topics=[
            OffsetCommitRequestTopic("", topic_id(1), parts),
            OffsetCommitRequestTopic("", topic_id(9), parts[:1]),
        ],
    )

    decision = commits.commit(context.asked(request, 10), context.context, context.offsets, context.now)

    assert [topic.topic_id for topic in decision.response.topics] == [topic_id(1), topic_id(9)]
    codes = [each.error_code for topic in decision.response.topics for each in topic.partitions]
    assert codes == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.number, ErrorCode.UNKNOWN_TOPIC_ID.number]
    assert [record.key for record in decision.records] == [OffsetCommitKey("g", "t", 0)]


def test_who_names_nothing_that_is_there_is_not_asked_who_they_are():
    context = OffsetsWorld()

    assert context.commit({"nix": {0: 5}}, epoch=5, member="m") == {"nix": {0: UNKNOWN}}
    assert context.commit({}, epoch=5, member="m") == {}


# ── callers ──────────────────────────────────────────────────────────────────────────


def test_anybody_may_commit_to_a_group_that_nobody_knows():
    context = OffsetsWorld()

    assert context.commit({"t": {0: 5}}, "new") == {"t": {0: FINE}}
    assert context.commit({"t": {0: 5}}, "") == {"t": {0: FINE}}
    assert context.commit({"t": {0: 6}}, "new", member="somebody") == {"t": {0: FINE}}


@pytest.mark.parametrize(("version", "error"), [(8, "ILLEGAL_GENERATION"), (9, "GROUP_ID_NOT_FOUND")])
def test_a_member_of_a_group_that_nobody_knows_is_refused(version: int, error: str):
    context = OffsetsWorld()

    assert refusal(lambda: context.commit({"t": {0: 5}}, epoch=0, member="m", version=version)) == error


def test_a_group_of_offsets_alone_has_no_members():
    context = OffsetsWorld()
    context.commit({"t": {0: 5}})

    assert refusal(lambda: context.commit({"t": {0: 6}}, epoch=0, member="m")) == "UNKNOWN_MEMBER_ID"


def test_a_group_decides_who_may_commit():
    context, crowd = OffsetsWorld(), Crowd()
    context.context.groups["g"] = crowd

    assert context.commit({"t": {0: 5}}, epoch=3, member="m", instance="i") == {"t": {0: FINE}}
    assert crowd.callers == [(Caller("m", "i", 3), False, 9)]

    crowd.refuses = ErrorCode.REBALANCE_IN_PROGRESS
    assert refusal(lambda: context.commit({"t": {0: 6}}, epoch=3, member="m")) == "REBALANCE_IN_PROGRESS"
    assert context.offsets.of("g").get("t", 0).offset == 5


def test_a_group_may_decide_by_partition():
    def only_the_first(id: bytes, partition: int) -> None:
        if (id, partition) != (topic_id(1), 0):
            raise ErrorCode.STALE_MEMBER_EPOCH.error()

    context = OffsetsWorld()
    context.context.groups["g"] = Crowd(check=only_the_first)

    assert context.commit({"t": {0: 5}}, epoch=3, member="m") == {"t": {0: FINE}}
    assert refusal(lambda: context.commit({"t": {0: 6, 1: 6}}, epoch=3, member="m")) == "STALE_MEMBER_EPOCH"


def test_a_commit_shows_that_its_member_is_alive():
    context, crowd = OffsetsWorld(), Crowd()
    context.context.groups["g"] = crowd
    context.commit({"t": {0: 5}}, epoch=3, member="m")
    context.commit({"t": {0: 5}})

    assert crowd.heard == [("m", context.now)]


def test_a_refused_commit_shows_nothing():
    context, crowd = OffsetsWorld(), Crowd(refuses=ErrorCode.ILLEGAL_GENERATION)
    context.context.groups["g"] = crowd

    refusal(lambda: context.commit({"t": {0: 5}}, epoch=3, member="m"))
    assert crowd.heard == []


# ── transactions ─────────────────────────────────────────────────────────────────────


def in_transaction(context: OffsetsWorld, version: int = 3, **fields):
    topic = TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 5, -1, None)])
    request = TxnOffsetCommitRequest("tx", "g", 7, 2, topics=[topic], **fields)
    return commits.commit_in_transaction(
        context.asked(request, version), context.context, context.offsets, context.now
    )


def test_a_commit_in_a_transaction_belongs_to_it():
    decision = in_transaction(OffsetsWorld())

    assert decision.transaction == InTransaction(7, 2)
    (record,) = decision.records
    assert record.producer_id == 7
    assert record.key == OffsetCommitKey("g", "t", 0)
    assert (record.value.offset, record.value.metadata, record.value.expire_timestamp) == (5, "", -1)


def test_the_partitions_of_a_transaction_are_looked_at_too():
    context = OffsetsWorld(offset_metadata_max_bytes=4)

    assert context.commit_in_transaction({"t": {0: 5, 3: 5}, "nix": {0: 5}}) == {
        "t": {0: FINE, 3: UNKNOWN},
        "nix": {0: UNKNOWN},
    }
    assert context.commit_in_transaction({"t": {0: 5}}, metadata="xxxxx") == {
        "t": {0: "OFFSET_METADATA_TOO_LARGE"}
    }


def test_a_transaction_needs_the_name_of_a_group():
    context = OffsetsWorld()

    assert refusal(lambda: context.commit_in_transaction({"t": {0: 5}}, group="")) == "INVALID_GROUP_ID"


def test_a_member_in_a_transaction_must_be_one():
    context = OffsetsWorld()
    assert (
        refusal(lambda: context.commit_in_transaction({"t": {0: 5}}, generation=3, member="m"))
        == "ILLEGAL_GENERATION"
    )

    context.commit({"t": {0: 5}})
    assert (
        refusal(lambda: context.commit_in_transaction({"t": {0: 5}}, generation=3, member="m"))
        == "UNKNOWN_MEMBER_ID"
    )


def test_a_group_is_told_that_it_is_a_transaction():
    context, crowd = OffsetsWorld(), Crowd()
    context.context.groups["g"] = crowd
    in_transaction(context, generation_id=3, member_id="m")

    assert crowd.callers == [(Caller("m", None, 3), True, 3)]
    assert crowd.heard == []


@pytest.mark.parametrize("by_partition", [False, True])
def test_a_stale_epoch_is_a_wrong_generation_to_a_producer(by_partition: bool):
    def stale(id: bytes, partition: int) -> None:
        raise ErrorCode.STALE_MEMBER_EPOCH.error()

    context = OffsetsWorld()
    context.context.groups["g"] = (
        Crowd(check=stale) if by_partition else Crowd(refuses=ErrorCode.STALE_MEMBER_EPOCH)
    )

    assert refusal(lambda: in_transaction(context, generation_id=3, member_id="m")) == "ILLEGAL_GENERATION"


def test_other_refusals_reach_a_producer_as_they_are():
    context = OffsetsWorld()
    context.context.groups["g"] = Crowd(refuses=ErrorCode.FENCED_INSTANCE_ID)

    assert refusal(lambda: in_transaction(context, generation_id=3, member_id="m")) == "FENCED_INSTANCE_ID"


def test_a_transaction_over_nothing_that_is_there_writes_nothing():
    context = OffsetsWorld()

    assert context.commit_in_transaction({"nix": {0: 1}}, generation=3, member="m") == {"nix": {0: UNKNOWN}}
    assert context.log == []
