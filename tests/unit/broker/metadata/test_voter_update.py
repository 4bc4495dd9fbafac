"""A voter that is reached elsewhere than the voters' record says tells the leader (KIP-853)."""

import pytest

from andiron.model.ids import Address
from andiron.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from andiron.wire.messages.update_raft_voter import KRaftVersionFeature, Listener, UpdateRaftVoterRequest
from worlds.controllers import CLUSTER_ID, Doors

SOME_FETCHES_MS = 5_000


@pytest.fixture
def three():
    """A cluster whose voters are in the log."""
    doors = Doors()
    raised = UpdateFeaturesRequest(10_000, [FeatureUpdateKey("kraft.version", 1)])
    assert doors.error(doors.leader, raised) == "NONE"
    return doors


def forget_where(three, voter):
    """Let the record say that a voter is reached where it is not, as it does of one that has moved."""
    directory = three.cluster.broker(voter).directories.metadata_id
    moved = UpdateRaftVoterRequest(
        CLUSTER_ID, three.epoch, voter, directory, [Listener("CONTROLLER", "long-ago", 9093)],
        KRaftVersionFeature(0, 1),
    )  # fmt: skip
    assert three.error(three.leader, moved) == "NONE"


def place_of(three, voter):
    return three.raft(three.leader).voters.latest.get(voter).address


def test_a_voter_that_has_moved_puts_the_record_right(three):
    voter = three.follower
    forget_where(three, voter)

    three.cluster.pass_time(SOME_FETCHES_MS)

    assert place_of(three, voter) == Address(f"node-{voter}", 9093)


def test_it_says_so_once_where_nothing_has_changed(three):
    three.cluster.pass_time(SOME_FETCHES_MS)
    end = three.raft(three.leader).partition.log.end
    voter = three.follower
    forget_where(three, voter)
    three.cluster.pass_time(SOME_FETCHES_MS)

    written = three.raft(three.leader).voters.history.changed_at
    three.cluster.pass_time(4 * SOME_FETCHES_MS)

    assert three.raft(three.leader).voters.history.changed_at == written > end


def test_where_the_settings_name_the_voters_there_is_nothing_to_say():
    three = Doors()
    three.raft(three.leader).voters.addresses[three.follower] = Address("long-ago", 9093)
    end = three.raft(three.leader).voters.history.changed_at

    three.cluster.pass_time(SOME_FETCHES_MS)

    assert three.raft(three.leader).voters.history.changed_at == end
