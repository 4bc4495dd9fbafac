"""Records of consumer groups, against bytes that Kafka 4.3 wrote, and the order in which things go."""

from __future__ import annotations

from andiron.groups.consumer.member import STABLE, Member, Profile
from andiron.groups.consumer.records import (
    current_record,
    epoch_record,
    group_tombstones,
    member_record,
    member_tombstones,
    partition_metadata_tombstone,
    pattern_record,
    pattern_tombstone,
    target_epoch_record,
    target_record,
)
from andiron.groups.records import encode_record
from andiron.model.ids import Millis

T = bytes.fromhex("d2dd9d59daa14b2bab010c7fbe61b8a8")
MEMBER = Member(
    "z", Profile(client_id="c", client_host="/127.0.0.1", topics=("t",), rebalance_timeout_ms=60_000)
)


def written(record) -> tuple[str, str]:
    key, value = encode_record(record)
    assert value is not None
    return key.hex(), value.hex()


def test_a_member_that_joins_is_written_as_kafka_writes_it():
    holds = MEMBER.at(2, STABLE, {T: dict.fromkeys(range(4), 2)})

    assert [
        written(member_record("gz", MEMBER)),
        written(target_record("gz", "z", {T: (0, 1, 2, 3)})),
        written(target_epoch_record("gz", 2, Millis(0x01A1E1B404DD))),
        written(current_record("gz", holds)),
    ] == [
        ("00050002677a00017a", "0000000002630b2f3132372e302e302e31020274010000ea600001000100"),
        (
            "00070002677a00017a",
            "000002d2dd9d59daa14b2bab010c7fbe61b8a805000000000000000100000002000000030000",
        ),
        ("00060002677a", "000000000002010008000001a1e1b404dd"),
        (
            "00080002677a00017a",
            "000000000002000000000002d2dd9d59daa14b2bab010c7fbe61b8a805000000000000000100000002000000030100"
            "1105000000020000000200000002000000020100",
        ),
    ]


def test_an_epoch_is_written_with_the_hash_of_the_topics():
    key, value = written(epoch_record("gz", 2, -0x3EF4C87AEEE0359D))

    assert (key, value) == ("00030002677a", "000000000002010008c10b3785111fca63")


def test_a_pattern_is_written_with_what_it_means():
    record = pattern_record("g", "t.*", ["t"], 3, Millis(9))

    assert (record.key.regular_expression, record.value.topics) == ("t.*", ["t"])
    assert (record.value.version, record.value.timestamp) == (3, 9)
    assert pattern_tombstone("g", "t.*") == record._replace(value=None)


def kinds(records) -> list[str]:
    assert all(record.value is None for record in records)
    return [type(record.key).__name__.removeprefix("ConsumerGroup").removesuffix("Key") for record in records]


def test_a_member_goes_in_the_reverse_order_of_how_it_came():
    assert kinds(member_tombstones("g", "m")) == [
        "CurrentMemberAssignment", "TargetAssignmentMember", "MemberMetadata",
    ]  # fmt: skip


def test_a_group_goes_with_all_that_belongs_to_it():
    assert kinds(group_tombstones("g", ["a", "b"], ["t.*"])) == [
        "CurrentMemberAssignment", "CurrentMemberAssignment",
        "TargetAssignmentMember", "TargetAssignmentMember", "TargetAssignmentMetadata",
        "MemberMetadata", "MemberMetadata",
        "RegularExpression", "PartitionMetadata", "Metadata",
    ]  # fmt: skip
    assert kinds([partition_metadata_tombstone("g")]) == ["PartitionMetadata"]
