"""How long a voter waits, out of its settings and another time each time."""

from andiron.model.chance import Chance
from andiron.quorum.election_timeouts import ElectionTimeouts
from andiron.quorum.settings import QuorumSettings

TIMEOUTS = QuorumSettings(
    controller_quorum_election_timeout_ms=1_000,
    controller_quorum_election_backoff_max_ms=400,
    controller_quorum_fetch_timeout_ms=2_000,
)


def drawn(what, times=200):
    timeouts = ElectionTimeouts(TIMEOUTS, Chance(7))
    return [getattr(timeouts, what)() for _ in range(times)]


def test_an_election_is_waited_for_once_or_twice_its_timeout():
    assert 1_000 <= min(drawn("election_ms")) < 1_100 and 1_900 < max(drawn("election_ms")) < 2_000


def test_asking_for_pre_votes_is_a_matter_of_a_moment():
    assert 1 <= min(drawn("moment_ms")) < 25 and 225 < max(drawn("moment_ms")) <= 250


def test_the_backoff_is_at_most_that_of_the_settings():
    assert 1 <= min(drawn("backoff_ms")) < 40 and 360 < max(drawn("backoff_ms")) <= 400


def test_successors_go_one_after_the_other():
    timeouts = ElectionTimeouts(TIMEOUTS, Chance(7))

    assert [timeouts.successor_ms(place) for place in range(3)] == [1, 101, 201]


def test_a_leader_looks_twice_as_often_as_a_follower_waits_and_is_more_patient():
    timeouts = ElectionTimeouts(TIMEOUTS, Chance(7))

    assert (timeouts.fetch_ms, timeouts.check_ms, timeouts.majority_ms) == (2_000, 1_000, 3_000)
