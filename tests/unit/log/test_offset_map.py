from __future__ import annotations

import random

import pytest

from andiron.log.offset_map import BYTES_PER_SLOT, OffsetMap


def test_it_holds_the_latest_offset_of_each_key():
    offsets = OffsetMap(1 << 20, 0.9, keys_max=10)
    for offset, key in enumerate([b"a", b"b", b"a", b"", b"a"]):
        offsets.put(key, offset)

    assert [offsets.get(key) for key in (b"a", b"b", b"", b"c")] == [4, 1, 3, -1]
    assert offsets.count == 3


@pytest.mark.parametrize("load_factor", [0.5, 0.9, 1.0])
def test_it_agrees_with_a_dict_until_it_is_full(load_factor):
    offsets, model = OffsetMap(1000 * BYTES_PER_SLOT, load_factor, keys_max=1 << 40), {}
    chance = random.Random(7)
    offset = 0
    while not offsets.is_full:
        key = b"%d" % chance.randrange(2000)
        offsets.put(key, offset)
        model[key] = offset
        offset += chance.randrange(1, 5)

    assert len(model) == offsets.count == offsets.capacity
    assert all(offsets.get(key) == latest for key, latest in model.items())
    assert offsets.get(b"never seen") == -1


def test_its_size_is_bounded_by_the_buffer_and_by_what_there_is_to_hold():
    assert 0.85 * (1 << 20) / 24 < OffsetMap(1 << 20, 0.9, keys_max=1 << 40).capacity <= 0.9 * (1 << 20) / 24
    assert OffsetMap(1 << 40, 0.9, keys_max=100).capacity <= 200


def test_it_can_hold_all_keys_that_there_may_be_if_the_buffer_allows():
    for keys_max in range(1, 300):
        assert OffsetMap(1 << 20, 0.9, keys_max).capacity >= keys_max


def test_there_is_always_room_for_one():
    assert OffsetMap(0, 0.01, keys_max=0).capacity == 1
