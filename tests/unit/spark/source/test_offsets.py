"""Offsets as they are written: in options, in checkpoints."""

import json

import pytest

from andiron.client.core.descriptions import EARLIEST, LATEST
from andiron.model.ids import TopicPartition
from andiron.model.settings import SettingError
from andiron.spark.source.offsets import (
    AtOffsets,
    AtTime,
    AtTimes,
    Everywhere,
    ForeignCheckpoint,
    begun_in,
    ids_in,
    of_json,
    parse_partitions,
    parse_place,
    parse_time,
    parse_times,
    shown,
    to_json,
    topics_of,
)

A0, A1, A10, B0 = (TopicPartition(*each) for each in (("a", 0), ("a", 1), ("a", 10), ("b", 0)))


def test_an_offset_is_always_written_the_same_way():
    one = json.dumps(to_json({B0: 3, A10: 2, A1: 1, A0: 0}))

    assert one == '{"a": {"0": 0, "1": 1, "10": 2}, "b": {"0": 3}}'
    assert json.dumps(to_json({A0: 0, A1: 1, A10: 2, B0: 3})) == one


def test_ids_stand_beside_the_offsets_and_are_none():
    told = to_json({TopicPartition("b", 0): 1, TopicPartition("a", 0): 2}, {"a": "x-_1", "c": "y"})

    assert list(told.items()) == [("a", {"0": 2}), ("b", {"0": 1}), ("a@x-_1", {})]
    assert of_json(told) == {TopicPartition("a", 0): 2, TopicPartition("b", 0): 1}
    assert ids_in(told) == {"a": "x-_1"}


def test_where_a_query_began_goes_with_the_end_of_its_first_batch() -> None:
    a0, a1, b0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
    told = to_json({a0: 5, a1: 7, b0: 9}, {"a": "x-_1"}, {a0: 2, a1: 7, b0: 0})

    assert list(told) == ["a", "b", "a@0=2,1=7", "b@0=0", "a@x-_1"], "in an order of its own"
    assert begun_in(told) == {a0: 2, a1: 7, b0: 0}
    assert (of_json(told), ids_in(told)) == ({a0: 5, a1: 7, b0: 9}, {"a": "x-_1"})
    assert begun_in(to_json({a0: 5}, {"a": "x-_1"})) is None
    assert parse_place("startingOffsets", json.dumps(told)) == AtOffsets(of_json(told))


def test_what_was_written_is_read_back():
    offsets = {A0: 0, A10: 1 << 62, B0: 7}

    assert of_json(json.loads(json.dumps(to_json(offsets)))) == offsets
    assert of_json({}) == {}


@pytest.mark.parametrize(
    "told",
    [None, 7, [], {"logOffset": 3}, {"a": {"x": 1}}, {"a": {"0": -1}}, {"a": {"0": "1"}}, {"a": {"0": True}}],
)
def test_an_offset_of_another_source_is_told_from_ours(told):
    with pytest.raises(ForeignCheckpoint, match="belongs to another query"):
        of_json(told)


def test_places_are_named_by_word_or_by_offset():
    assert parse_place("startingOffsets", " Earliest ") == Everywhere(EARLIEST)
    assert parse_place("startingOffsets", "latest") == Everywhere(LATEST)
    assert parse_place("startingOffsets", '{"a":{"0":23,"1":-1},"b":{"0":-2}}') == AtOffsets(
        {A0: 23, A1: -1, B0: -2}
    )


@pytest.mark.parametrize(
    "text", ["", "newest", "[]", "{", '{"a":1}', '{"a":{"0":1.5}}', '{"a":{"-1":1}}', '{"a":{"0":-3}}']
)
def test_a_place_that_is_none_is_refused_with_an_example(text):
    with pytest.raises(SettingError, match=r'^startingOffsets: .*expected.*"orders"'):
        parse_place("startingOffsets", text)


def test_times_are_milliseconds():
    assert parse_time("startingTimestamp", " 1767225600000 ") == AtTime(1767225600000)
    assert parse_times("startingOffsetsByTimestamp", '{"a":{"0":5}}') == AtTimes({A0: 5})
    for text in ("2026-01-01", "1.5", "", "९"):
        with pytest.raises(SettingError, match="milliseconds since 1970"):
            parse_time("startingTimestamp", text)


def test_partitions_are_assigned_by_number():
    assert parse_partitions("assign", '{"b":[0],"a":[10,0,0]}') == (A0, A10, B0)
    for text in ("a,b", "{}", '{"a":0}', '{"a":[]}', '{"a":[-1]}', '{"a":["0"]}', '{"a":[true]}'):
        with pytest.raises(SettingError, match="assign: "):
            parse_partitions("assign", text)


def test_many_partitions_are_shown_in_a_line():
    assert shown([]) == "none"
    assert shown([A1, A0]) == "a-0, a-1"
    assert shown([TopicPartition("a", each) for each in range(100)]).endswith("a-7, and 92 more")
    assert topics_of([B0, A1, A0]) == ["a", "b"]
