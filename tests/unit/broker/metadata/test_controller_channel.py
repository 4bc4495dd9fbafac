"""Requests find the controller, wherever it is and whoever it is by then."""

import pytest

from andiron.broker.node.patience import CONTROLLER_RETRY_MS
from andiron.model.errors import ErrorCode
from andiron.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from andiron.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from andiron.wire.messages.envelope import EnvelopeRequest
from andiron.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from worlds.cluster_client import create, ready, small_cluster
from worlds.node import error_of

NODES = [1, 2, 3]


@pytest.fixture
def cluster():
    return small_cluster()


def topic_request(name, timeout_ms=30_000):
    return CreateTopicsRequest([CreatableTopic(name, 1, 3)], timeout_ms)


def made(answers):
    return error_of(answers[0].topics[0])


@pytest.mark.parametrize("number", NODES)
def test_whoever_is_asked_the_controller_decides(cluster, number):
    answers = cluster.ask(number, topic_request("t"))
    cluster.until(lambda: answers)

    assert made(answers) == "NONE"
    assert "t" in cluster.broker(number).image.topics  # and whoever asked knows of it


@pytest.mark.parametrize("version", range(2, 8))
@pytest.mark.parametrize("number", NODES)
def test_a_request_is_passed_on_in_its_own_version(cluster, number, version):
    [answer] = [cluster.answer(number, topic_request("t"), version)]

    assert error_of(answer.topics[0]) == "NONE"


def test_what_is_refused_there_is_refused_here(cluster):
    create(cluster, "t")

    assert {made(cluster.ask(n, topic_request("t"))) for n in NODES} == {"TOPIC_ALREADY_EXISTS"}
    bad = IncrementalAlterConfigsRequest(
        [AlterConfigsResource(2, "t", [AlterableConfig("retention.ms", 0, "soon")])]
    )
    assert {error_of(cluster.answer(n, bad).responses[0]) for n in NODES} == {"INVALID_CONFIG"}


def test_a_request_waits_for_the_next_controller(cluster):
    before = cluster.controller
    asked = next(n for n in NODES if n != before)
    cluster.kill(before)
    answers = cluster.ask(asked, topic_request("t"))
    assert not answers

    cluster.until(lambda: answers, ms=5_000)

    assert made(answers) == "NONE"


def test_when_its_time_is_up_it_says_so(cluster):
    before = cluster.controller
    asked, other = (n for n in NODES if n != before)
    cluster.kill(before, other)
    began = cluster.now
    answers = cluster.ask(asked, topic_request("t", timeout_ms=2_000))
    cluster.until(lambda: answers)

    assert made(answers) == "REQUEST_TIMED_OUT"
    assert 2_000 <= cluster.now - began <= 2_000 + 2 * CONTROLLER_RETRY_MS


def test_a_request_to_the_wrong_node_goes_on_to_the_right_one(cluster):
    """What a node knows of the controller may be old by a moment."""
    right = cluster.controller
    asked, wrong = (n for n in NODES if n != right)
    member = cluster.broker(asked).raft
    real = type(member).leader
    said = []

    class Mistaken(type(member)):
        @property
        def leader(self):
            if len(said) < 3:
                said.append(wrong)
                return wrong
            return real.fget(self)

    member.__class__ = Mistaken
    answers = cluster.ask(asked, topic_request("t"))
    cluster.until(lambda: answers, ms=5_000)

    assert made(answers) == "NONE"
    assert said


def test_a_controller_that_steps_down_sends_those_who_wait_to_the_next(cluster):
    """Nothing that it decides any more is committed, and nobody is told that it was."""
    before = cluster.controller
    cluster.isolate(before)
    answers = cluster.ask(before, topic_request("t", timeout_ms=60_000))
    cluster.pass_time(8_000)
    assert not answers

    cluster.heal()
    cluster.until(lambda: answers)

    assert made(answers) == "NONE"
    ready(cluster)
    assert all("t" in cluster.broker(n).image.topics for n in NODES)


def test_a_controller_that_is_slow_is_not_asked_twice_for_a_client():
    """The first request would arrive after all, and might undo what was done since the second."""
    cluster = small_cluster(voters=[1])
    calls, asked = cluster.broker(2).calls, []
    call = calls.call
    calls.call = lambda to, lane, body, *rest: (asked.append(type(body)), call(to, lane, body, *rest))
    cluster.paused.add(1)
    answers = cluster.ask(2, topic_request("t", timeout_ms=30_000))
    cluster.pass_time(20_000)
    assert not answers
    assert asked.count(EnvelopeRequest) == 1

    cluster.heal()
    cluster.until(lambda: answers)

    assert made(answers) == "NONE"
    assert asked.count(EnvelopeRequest) == 1


def test_what_is_passed_on_says_who_asks_as_kafkas_controllers_want_to_read_it():
    cluster = small_cluster(voters=[1])
    calls, asked = cluster.broker(2).calls, []
    call = calls.call
    calls.call = lambda to, lane, body, *rest: (asked.append(body), call(to, lane, body, *rest))
    cluster.until(lambda answers=cluster.ask(2, topic_request("t")): answers)

    [envelope] = [each for each in asked if isinstance(each, EnvelopeRequest)]

    assert envelope.request_principal == b"\x00\x00\x05User\x0aANONYMOUS\x00\x00"
    assert len(envelope.client_host_address) == 4  # of IPv4: any other length is no address


@pytest.mark.parametrize("is_heir", [True, False])
def test_a_controller_that_is_slow_is_not_waited_for_once_another_leads(is_heir):
    cluster = small_cluster()
    before = cluster.controller
    others = [n for n in NODES if n != before]
    cluster.paused.add(before)
    asked = {n: cluster.ask(n, topic_request(f"t-{n}", timeout_ms=60_000)) for n in others}
    heirs = []

    def others_agree():
        heirs[:] = {cluster.broker(n).raft.leader for n in others}
        return len(heirs) == 1 and heirs[0] in others

    cluster.until(others_agree)
    answers = asked[next(n for n in others if (n in heirs) is is_heir)]
    cluster.until(lambda: answers, ms=5_000)

    assert made(answers) == "NONE"


def test_what_a_broker_asks_for_itself_comes_back_with_its_own_error(cluster):
    broker = cluster.broker(next(n for n in NODES if n != cluster.controller))
    heard = []
    wait = broker.decide(AllocateProducerIdsRequest(broker.settings.node_id, broker_epoch=-7), cluster.now)
    broker.waiting.later(wait, heard.append)
    cluster.until(lambda: heard)

    assert ErrorCode.of(heard[0].error_code) is ErrorCode.STALE_BROKER_EPOCH
