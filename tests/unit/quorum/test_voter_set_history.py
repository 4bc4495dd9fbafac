"""The voters that the log names last hold, until that is cut off."""

import pytest

from andiron.quorum.records import KRaftVersionRecord
from andiron.quorum.voter_set import VoterNode, VoterSet
from andiron.quorum.voter_set_history import VoterSetHistory


def voters(*ids):
    return VoterSet(VoterNode(id) for id in ids)


def ids(history):
    return list(history.latest.ids)


@pytest.fixture
def history():
    return VoterSetHistory(voters(1))


def test_it_begins_with_those_of_the_settings(history):
    assert (ids(history), history.is_in_log, history.changed_at) == ([1], False, -1)
    assert history.about(100) == []


def test_the_last_record_holds_as_soon_as_it_is_there(history):
    history.appended(voters(1, 2).record(), 10)
    history.appended(voters(1, 2, 3).record(), 20)

    assert (ids(history), history.is_in_log, history.changed_at) == ([1, 2, 3], True, 20)


def test_what_is_cut_off_never_was(history):
    history.appended(voters(1, 2).record(), 10)
    history.appended(voters(1, 2, 3).record(), 20)

    history.truncated(21)
    assert ids(history) == [1, 2, 3]
    history.truncated(20)
    assert ids(history) == [1, 2]
    history.truncated(0)
    assert (ids(history), history.is_in_log) == ([1], False)


def test_one_that_goes_is_needed_until_that_is_committed(history):
    history.appended(voters(1, 2).record(), 10)
    history.appended(voters(2).record(), 20)

    assert history.needs(1, 20)
    assert not history.needs(1, 21)
    assert not history.needs(3, 20), "it never was a voter"


def test_a_snapshot_says_who_voted_where_it_ends(history):
    history.appended(voters(1, 2).record(), 10)
    history.appended(voters(1, 2, 3).record(), 20)

    assert history.as_of(10) is None
    assert list(history.as_of(20).ids) == [1, 2]
    version, named = history.about(21)
    assert version == KRaftVersionRecord(0, 1)
    assert VoterSet.of(named) == voters(1, 2, 3)


def test_a_log_that_goes_on_from_a_snapshot_has_its_voters(history):
    history.appended(voters(1, 2).record(), 10)
    history.restarted(50, voters(4, 5).record())
    assert (ids(history), history.changed_at) == ([4, 5], 49)

    history.appended(voters(4, 5, 6).record(), 50)
    history.truncated(50)
    assert ids(history) == [4, 5], "what is committed is not cut off"
    history.restarted(90, None)
    assert ids(history) == [1]
