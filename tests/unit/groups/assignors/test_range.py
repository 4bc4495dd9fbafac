"""Stretches of neighbours; the laws are in tests/properties/test_assignors.py."""

from __future__ import annotations

from andiron.groups.assignors.range import assign
from andiron.groups.assignors.spec import Subscriber

T, U = b"t" * 16, b"u" * 16


def reader(id: str, *topics: bytes, instance_id: str | None = None) -> Subscriber:
    return Subscriber(id, instance_id, topics, {})


def test_the_first_members_get_one_partition_more():
    assignment = assign([reader("a", T), reader("b", T), reader("c", T)], {T: 7})

    assert assignment == {"a": {T: (0, 1, 2)}, "b": {T: (3, 4)}, "c": {T: (5, 6)}}


def test_members_that_are_too_many_get_nothing():
    assert assign([reader("a", T), reader("b", T)], {T: 1}) == {"a": {T: (0,)}, "b": {}}


def test_static_members_stand_first():
    assignment = assign([reader("a", T), reader("z", T, instance_id="i")], {T: 2})

    assert assignment == {"z": {T: (0,)}, "a": {T: (1,)}}


def test_a_topic_is_assigned_to_its_subscribers_only():
    assignment = assign([reader("a", T), reader("b", T, U)], {T: 2, U: 2})

    assert assignment == {"a": {T: (0,)}, "b": {T: (1,), U: (0, 1)}}
