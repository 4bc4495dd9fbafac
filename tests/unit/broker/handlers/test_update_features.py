"""Levels of features are changed, by whomever one asks; that of the quorum by the quorum."""

import pytest

from andiron.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from andiron.wire.messages.api_versions import ApiVersionsRequest
from andiron.wire.messages.remove_raft_voter import RemoveRaftVoterRequest
from andiron.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from worlds.controllers import every_version_of
from worlds.node import SmallNode, error_of

UPGRADE, SAFE, UNSAFE = 1, 2, 3


def updating(*updates, dry=False):
    return UpdateFeaturesRequest(10_000, [FeatureUpdateKey(*each) for each in updates], dry)


def change(name, level, kind=UPGRADE):
    return name, level, kind != UPGRADE, kind


def levels(three, number):
    response = three.ask_as_client(number, ApiVersionsRequest("test", "1"))
    return {each.name: each.max_version_level for each in response.finalized_features}


@every_version_of(UpdateFeaturesRequest)
def test_a_level_goes_down_and_up_again_through_any_broker(three, version):
    for number in (1, 2, 3):
        down = three.ask_as_client(number, updating(change("group.version", 0, SAFE)), version)
        assert error_of(down) == "NONE"
        assert [each.feature for each in down.results] == (["group.version"] if version < 2 else [])
        assert "group.version" not in three.cluster.image.features

        assert error_of(three.ask_as_client(number, updating(change("group.version", 1)), version)) == "NONE"
        assert levels(three, three.leader)["group.version"] == 1


def test_the_leader_of_the_controllers_is_asked_the_same_way(three):
    assert three.error(three.leader, updating(change("group.version", 0, SAFE))) == "NONE"
    assert "group.version" not in three.cluster.image.features


def test_a_trial_answers_and_changes_nothing(three):
    answer = three.ask_as_client(three.follower, updating(change("group.version", 0, SAFE), dry=True), 1)

    assert error_of(answer) == "NONE"
    assert three.cluster.image.features["group.version"] == 1


def test_all_that_is_asked_for_or_nothing_and_why(three):
    asked = updating(change("group.version", 0, SAFE), change("nonesuch", 1))

    answer = three.ask_as_client(three.follower, asked, 1)

    assert (error_of(answer), answer.results) == ("INVALID_UPDATE_VERSION", [])
    assert "nonesuch" in answer.error_message
    assert three.cluster.image.features["group.version"] == 1


# ── the quorum's own ─────────────────────────────────────────────────────────────────


def directory(three, number):
    return three.cluster.broker(number).directories.metadata_id


def test_voters_of_the_settings_go_into_the_log_and_can_change_from_then_on(three):
    other = next(n for n in (1, 2, 3) if n not in (three.leader, three.follower))
    going = RemoveRaftVoterRequest(None, other, directory(three, other))
    assert three.error(three.leader, going) == "UNSUPPORTED_VERSION"
    assert "kraft.version" not in levels(three, three.follower)

    assert error_of(three.ask_as_client(three.follower, updating(change("kraft.version", 1)))) == "NONE"

    for number in (1, 2, 3):
        voters = three.raft(number).voters
        assert levels(three, number)["kraft.version"] == 1
        assert {each.id: each.directory for each in voters.latest} == {
            n: directory(three, n) for n in (1, 2, 3)
        }
        assert [str(each.address.port) for each in voters.latest] == ["9093"] * 3
    assert three.error(three.leader, going) == "NONE"
    three.cluster.until(lambda: list(three.raft(three.leader).quorum.voters) == sorted({1, 2, 3} - {other}))
    where = [Listener("CONTROLLER", f"node-{other}", 9093)]
    again = AddRaftVoterRequest(None, 10_000, other, directory(three, other), where)
    assert three.error(three.leader, again) == "NONE"


def test_nodes_that_start_again_find_their_voters_in_the_log(three):
    three.ask_as_client(three.follower, updating(change("kraft.version", 1)))

    three.cluster.kill(1, 2, 3)
    for number in (1, 2, 3):
        three.cluster.start(number)
    three.cluster.until(three.cluster.all_ready)

    assert levels(three, three.follower)["kraft.version"] == 1


def test_voters_that_this_leader_has_not_heard_of_cannot_be_written_down(three):
    three.raft(three.leader).voters.directories.pop(three.follower)

    answer = three.ask(three.leader, updating(change("kraft.version", 1), dry=True))

    assert error_of(answer) == "INVALID_UPDATE_VERSION"
    assert f"voter {three.follower}" in answer.error_message


@pytest.mark.parametrize(
    ("updates", "code"),
    [
        ([change("kraft.version", 2)], "INVALID_UPDATE_VERSION"),
        ([change("kraft.version", -1, SAFE)], "INVALID_UPDATE_VERSION"),
        ([change("kraft.version", 1, SAFE)], "INVALID_UPDATE_VERSION"),
        ([change("kraft.version", 1), change("group.version", 1)], "INVALID_REQUEST"),
        ([change("kraft.version", 0, SAFE)], "NONE"),
    ],
)
def test_what_cannot_be_is_refused(three, updates, code):
    before = three.raft(three.leader).partition.log.end

    assert three.error(three.leader, updating(*updates)) == code
    assert three.raft(three.leader).partition.log.end == before


def test_kraft_version_cannot_be_lowered():
    node = SmallNode()
    node.connect(9, "CONTROLLER")
    assert error_of(node.ask(updating(change("kraft.version", 1)), conn=9)) == "NONE"

    for kind in (SAFE, UNSAFE):
        assert (
            error_of(node.ask(updating(change("kraft.version", 0, kind)), conn=9)) == "INVALID_UPDATE_VERSION"
        )
    node.restart()
    node.connect(9, "CONTROLLER")
    assert error_of(node.ask(updating(change("kraft.version", 1)), conn=9)) == "NONE"
