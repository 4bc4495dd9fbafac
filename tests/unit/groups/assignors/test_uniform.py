"""Even shares that move little; the laws are in tests/properties/test_assignors.py."""

from __future__ import annotations

from andiron.groups.assignors.spec import Subscriber
from andiron.groups.assignors.uniform import assign

T, U = b"t" * 16, b"u" * 16


def reader(id: str, *topics: bytes, owned: dict[bytes, tuple[int, ...]] | None = None) -> Subscriber:
    return Subscriber(id, None, topics, owned or {})


def test_an_assignment_without_members_is_empty():
    assert assign([], {T: 3}) == {}


def test_partitions_are_dealt_out_in_turn():
    assert assign([reader("a", T), reader("b", T)], {T: 5}) == {"a": {T: (0, 2, 4)}, "b": {T: (1, 3)}}


def test_a_newcomer_gets_the_highest_ones_of_the_others():
    standing = [reader("a", T, owned={T: (0, 1, 2, 3)}), reader("b", T, owned={T: (4, 5, 6, 7)})]

    assignment = assign([*standing, reader("c", T)], {T: 8})

    assert assignment == {"a": {T: (0, 1, 2)}, "b": {T: (4, 5, 6)}, "c": {T: (3, 7)}}


def test_each_topic_stays_spread_over_the_members():
    before = {T: tuple(range(10)), U: tuple(range(10))}

    assignment = assign([reader("a", T, U, owned=before), reader("b", T, U)], {T: 10, U: 10})

    assert {len(share) for share in assignment["a"].values()} == {5}
    assert {len(share) for share in assignment["b"].values()} == {5}


def test_partitions_that_are_gone_are_not_assigned():
    had = {T: (0, 1, 9), U: (0,)}

    assert assign([reader("a", T, owned=had)], {T: 2}) == {"a": {T: (0, 1)}}


def test_two_members_that_owned_the_same_partition_do_not_both_keep_it():
    both = {T: (0, 1)}

    assignment = assign([reader("a", T, owned=both), reader("b", T, owned=both)], {T: 2})

    assert sorted(assignment["a"][T] + assignment["b"][T]) == [0, 1]


def test_a_member_with_more_topics_leaves_shared_ones_to_the_others():
    assignment = assign([reader("a", T), reader("b", T, U)], {T: 2, U: 2})

    assert assignment == {"a": {T: (0, 1)}, "b": {U: (0, 1)}}


def test_a_partition_moves_to_a_member_that_has_two_less():
    standing = [reader("a", T, owned={T: (0, 1, 2)}), reader("b", T, U)]

    assignment = assign(standing, {T: 3, U: 1})

    assert {member: sum(map(len, topics.values())) for member, topics in assignment.items()} == {
        "a": 2,
        "b": 2,
    }
    assert assignment["a"] == {T: (0, 1)}
