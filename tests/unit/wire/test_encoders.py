from collections.abc import Sized
from typing import Any

import pytest

from andiron.wire.codec import decode_message, encode_message, encoder
from andiron.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from andiron.wire.messages.produce import NodeEndpoint, ProduceResponse
from andiron.wire.schema import array, boolean, i32, message, nested, string, struct


@struct
class Corner:
    x: int = i32(default=-1)


@message(api_key=1, versions=(0, 2), flexible=1)
class Shape:
    name: str | None = string(nullable=1)
    sides: list[int] = array(i32())
    closed: bool = boolean()
    corner: Corner | None = nested(Corner, since=1, nullable=1, default=None)
    tags: list[str] = array(string(), since=1, tag=0)
    title: str | None = string(since=1, nullable=1, tag=1, default=None)
    first: Corner | None = nested(Corner, since=1, tag=3, default=None)
    count: int = i32(since=1, tag=2, tag_since=2, default=5)


class FileSlice:
    """Something the codec knows nothing of but its length."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length


def test_a_legacy_message() -> None:
    assert encode_message(Shape("ab", [1, 2], True), 0) == b"\0\2ab\0\0\0\2\0\0\0\1\0\0\0\2\1"


def test_a_flexible_message_without_tags() -> None:
    assert encode_message(Shape(None, [], False, Corner(7)), 2) == b"\0\1\0\1\0\0\0\7\0\0"


def test_a_field_may_stand_in_line_until_a_version_makes_it_a_tag() -> None:
    assert encode_message(Shape("", [], count=9), 1) == b"\1\1\0\xff\0\0\0\x09\0"
    assert encode_message(Shape("", [], count=9), 2) == b"\1\1\0\xff\1\2\4\0\0\0\x09"
    assert encode_message(Shape("", [], count=5), 2) == b"\1\1\0\xff\0"


def test_tagged_fields_go_in_the_order_of_their_tags_whatever_that_of_the_fields() -> None:
    shape = Shape("", tags=["a"], title="", first=Corner(1), count=0)

    head, zero, one, two, three = b"\1\1\0\xff\4", b"\0\3\2\2a", b"\1\1\1", b"\2\4\0\0\0\0", b"\3\5\0\0\0\1\0"
    assert encode_message(shape, 2) == head + zero + one + two + three
    assert decode_message(Shape, 2, head + zero + one + two + three) == shape


def test_a_tagged_struct_with_all_its_defaults_is_as_good_as_absent() -> None:
    assert encode_message(Shape(first=Corner()), 2) == encode_message(Shape(), 2)


def test_any_empty_sequence_is_an_empty_tagged_array() -> None:
    nothing: Any = ()
    assert encode_message(Shape(tags=nothing), 2) == encode_message(Shape(), 2)


def test_a_field_that_the_version_lacks_is_left_out() -> None:
    response = ProduceResponse(node_endpoints=[NodeEndpoint(1, "h", 9092)])

    assert encode_message(response, 9) == encode_message(ProduceResponse(), 9)
    assert encode_message(response, 10) != encode_message(ProduceResponse(), 10)


def test_a_message_without_records_is_one_part() -> None:
    parts: list[Sized] = []
    encoder(Shape, 2)(Shape("ab", [1, 2, 3], tags=["a", "b"]), parts)

    assert len(parts) == 1
    assert type(parts[0]) is bytes


def test_records_become_parts_as_they_are_and_are_never_touched() -> None:
    first, second = FileSlice(1000), FileSlice(20)
    partitions = [
        PartitionData(0, aborted_transactions=[AbortedTransaction(1, 2)], records=first),
        PartitionData(1, records=None),
        PartitionData(2, records=b""),
        PartitionData(3, current_leader=LeaderIdAndEpoch(1, 2), records=second),
    ]
    response = FetchResponse(responses=[FetchableTopicResponse("t", partitions=partitions)])
    parts: list[Sized] = []
    encoder(FetchResponse, 12)(response, parts)

    assert [type(part) for part in parts] == [bytes, FileSlice, bytes, FileSlice, bytes]
    assert parts[1] is first
    assert parts[3] is second
    whole = b"".join(part if isinstance(part, bytes) else bytes(len(part)) for part in parts)
    read = decode_message(FetchResponse, 12, whole).responses[0].partitions
    assert [None if each.records is None else len(each.records) for each in read] == [1000, None, 0, 20]
    assert read[3].current_leader == LeaderIdAndEpoch(1, 2)


@pytest.mark.parametrize("length", [126, 127, 128, 16383, 16384])
def test_lengths_around_the_varint_steps(length: int) -> None:
    shape = Shape("x" * length, [1] * length)

    assert decode_message(Shape, 2, encode_message(shape, 2)) == shape
