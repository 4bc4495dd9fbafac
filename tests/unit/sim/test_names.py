from __future__ import annotations

import random

import pytest

from andiron.sim.names import Content, Names


def made(*paths):
    names = Names()
    names.make_directory("d")
    for path in paths:
        names.link(path, Content(bytearray(path.encode())))
    return names


def after_every_crash(make):
    """The listings of `d` that crashes leave, each once."""
    seen = []
    for seed in range(60):
        names = make()
        names.crash(random.Random(seed))
        names.make_directory("d")
        listing = sorted(names.find("d").listing())
        if listing not in seen:
            seen.append(listing)
    return sorted(seen)


def test_changes_are_undone_from_the_last_one_on():
    assert after_every_crash(lambda: made("d/a", "d/b")) == [[], ["a"], ["a", "b"]]


def test_what_is_settled_stays_and_so_does_all_before_it():
    def make():
        names = made("d/a", "elsewhere")
        names.link("d/b", Content())
        names.settle("d")
        names.link("d/c", Content())
        return names

    assert after_every_crash(make) == [["a", "b"], ["a", "b", "c"]]


def test_settling_one_directory_leaves_later_changes_in_others_open():
    def make():
        names = made("d/a")
        names.settle("")
        return names

    assert after_every_crash(make) == [[], ["a"]]


def test_a_rename_is_done_or_not():
    def make():
        names = made("d/a", "d/b")
        names.settle("d")
        names.rename("d/a", "d/b")
        return names

    assert after_every_crash(make) == [["a", "b"], ["b"]]


def test_a_removed_directory_may_come_back_in_part():
    def make():
        names = made("d/a", "d/b")
        names.settle("d")
        names.remove("d")
        return names

    assert after_every_crash(make) == [[], ["a", "b"], ["b"]]


def test_what_is_undone_has_its_old_content():
    names = made("d/a", "d/b")
    names.settle("d")
    names.find("d/a").sync()
    names.find("d/b").sync()
    names.rename("d/a", "d/b")
    seed = next(seed for seed in range(99) if random.Random(seed).randint(0, 1) == 0)

    names.crash(random.Random(seed))

    assert bytes(names.find("d/b").data) == b"d/b"


@pytest.mark.parametrize("seed", range(50))
def test_synced_bytes_stay_and_the_rest_is_a_front_part_or_torn(seed):
    content = Content(bytearray(b"synced"))
    content.sync()
    content.data += b"ABCDEF"

    content.crash(random.Random(seed))

    assert content.data.startswith(b"synced")
    assert len(content.data) <= 12


def test_every_kind_of_tear_happens():
    tails = set()
    for seed in range(2000):
        content = Content(bytearray(b"ABCDEF"))
        content.crash(random.Random(seed))
        tails.add(bytes(content.data))

    assert {b"", b"ABC", b"ABCDEF", b"AB\0\0", b"A\0CDEF"} <= tails
    assert any(set(tail) - set(b"ABCDEF\0") for tail in tails)


def test_a_truncation_that_was_not_synced_may_be_undone():
    left = set()
    for seed in range(60):
        content = Content(bytearray(b"0123456789"))
        content.sync()
        content.truncate(7)
        content.truncate(5)
        content.data += b"x"
        content.crash(random.Random(seed))
        left.add(bytes(content.data))

    assert b"0123456789" in left
    assert {tail[:5] for tail in left} == {b"01234"}


def test_a_synced_truncation_is_final():
    for seed in range(20):
        content = Content(bytearray(b"0123456789"))
        content.sync()
        content.truncate(5)
        content.sync()
        content.crash(random.Random(seed))
        assert content.data == b"01234"
