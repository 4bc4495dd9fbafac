from __future__ import annotations

import pytest

from andiron.log.checkpoints import CheckpointError
from andiron.log.leader_epochs import LeaderEpochs


def three():
    return LeaderEpochs([(0, 0), (2, 40), (3, 55)])


def test_an_epoch_begins_where_its_leader_first_wrote():
    epochs = LeaderEpochs()
    epochs.assign(1, 10)
    epochs.assign(1, 12)
    epochs.assign(4, 20)
    assert epochs.entries() == [(1, 10), (4, 20)]
    assert epochs.latest == 4


def test_no_epoch_is_not_an_epoch():
    epochs = LeaderEpochs()
    epochs.assign(-1, 0)
    assert epochs.entries() == []
    assert not epochs.changed


@pytest.mark.parametrize(
    ("epoch", "start", "left"),
    [
        (4, 50, [(0, 0), (2, 40), (4, 50)]),
        (2, 60, [(0, 0), (2, 60)]),
        (3, 50, [(0, 0), (2, 40), (3, 50)]),
        (1, 30, [(0, 0), (1, 30)]),
    ],
)
def test_an_entry_replaces_those_it_contradicts(epoch, start, left):
    epochs = three()
    epochs.assign(epoch, start)
    assert epochs.entries() == left


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, (-1, -1)),  # none asked for
        (0, (0, 40)),
        (1, (0, 40)),  # never was here: the one before it ended there
        (2, (2, 55)),
        (3, (3, 70)),  # the latest goes on to the end of the log
        (4, (-1, -1)),  # not heard of
    ],
)
def test_an_epoch_ends_where_the_next_begins(asked, answer):
    assert three().end_of(asked, 70) == answer


def test_an_epoch_before_all_others_ends_where_they_begin():
    assert LeaderEpochs([(5, 30)]).end_of(3, 70) == (3, 30)


def test_an_offset_has_the_epoch_that_wrote_it():
    epochs = LeaderEpochs([(1, 10), (2, 40)])
    assert [epochs.epoch_of(offset) for offset in (9, 10, 39, 40, 1000)] == [-1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("end", "left"),
    [(56, [(0, 0), (2, 40), (3, 55)]), (55, [(0, 0), (2, 40)]), (41, [(0, 0), (2, 40)]), (0, [])],
)
def test_truncating_the_end_forgets_epochs_that_began_there(end, left):
    epochs = three()
    epochs.truncate_end(end)
    assert epochs.entries() == left
    assert epochs.latest == (left[-1][0] if left else -1)


@pytest.mark.parametrize(
    ("start", "left"),
    [
        (0, [(0, 0), (2, 40), (3, 55)]),
        (10, [(0, 10), (2, 40), (3, 55)]),
        (40, [(2, 40), (3, 55)]),
        (60, [(3, 60)]),
    ],
)
def test_truncating_the_start_moves_the_epoch_under_way(start, left):
    epochs = three()
    epochs.truncate_start(start)
    assert epochs.entries() == left


def test_only_a_change_asks_to_be_written():
    epochs = three()
    epochs.assign(3, 60)
    epochs.truncate_end(80)
    epochs.truncate_start(0)
    assert not epochs.changed
    epochs.assign(4, 60)
    assert epochs.changed


def test_a_copy_of_the_log_adopts_what_it_has_no_batches_of():
    copy = LeaderEpochs([(2, 60)])
    copy.adopt(three())
    assert copy.entries() == three().entries()
    assert copy.latest == three().latest
    assert copy.changed

    copy.changed = False
    copy.adopt(three())
    assert not copy.changed


def test_the_file_is_version_count_and_lines():
    assert three().encode() == b"0\n3\n0 0\n2 40\n3 55\n"
    assert LeaderEpochs.decode(three().encode()).entries() == three().entries()


@pytest.mark.parametrize("data", [b"x", b"0\n1\n", b"0\n1\n1 2 3\n", b"0\n1\n1 -2\n"])
def test_a_broken_file_is_refused(data):
    with pytest.raises(CheckpointError):
        LeaderEpochs.decode(data)


@pytest.mark.parametrize(
    ("epoch", "first", "last", "left"),
    [
        (2, 45, 46, [(0, 0), (2, 40), (3, 55)]),
        (3, 70, 71, [(0, 0), (2, 40), (3, 55)]),
        (4, 70, 71, [(0, 0), (2, 40), (3, 55), (4, 70)]),  # which the file did not hear of
        (4, 55, 56, [(0, 0), (2, 40), (4, 55)]),
        (2, 54, 56, [(0, 0), (2, 40)]),  # nobody else began in the middle of it
        (0, 60, 61, [(0, 0)]),
        (1, 20, 21, [(0, 0), (1, 20), (2, 40), (3, 55)]),
    ],
)
def test_a_batch_confirms_what_is_known_but_for_what_it_contradicts(epoch, first, last, left):
    epochs = three()
    epochs.confirm(epoch, first, last)
    assert epochs.entries() == left
    assert epochs.was_cut == (not set(three().entries()) <= set(left))
