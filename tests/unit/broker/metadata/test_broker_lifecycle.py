"""A broker's place in its cluster: taken in, kept by heartbeats, let go."""

import pytest

from andiron.broker.metadata.broker_lifecycle import LEAVING_MS, RETRY_MS, Lifecycle, Stage
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.image import BrokerImage, Image
from andiron.controller.records import (
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    RegisterBrokerRecord,
)
from andiron.model.errors import ErrorCode
from andiron.model.ids import NEVER, Offset
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from andiron.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from worlds.cluster_client import all_in_sync, create, small_cluster
from worlds.node import PROPERTIES, SmallNode

NOW, HEARTBEAT_MS, SESSION_MS = 1_000_000, 2_000, 9_000
FENCED, LET_IN = 1, -1
INCARNATION, DIRECTORY = b"i" * 16, b"d" * 16


class Known:
    """Metadata as far as a life needs it: the image, and how much of it is applied."""

    def __init__(self):
        self.image, self.applied = Image(), Offset(0)
        self.can_be_decided_on = True

    def replay(self, record):
        self.image.replay(record, self.applied)
        self.applied = Offset(self.applied + 1)


class Life:
    """A broker's life with a controller that answers when the test says so."""

    def __init__(self):
        self.metadata, self.asked = Known(), []
        self._waiting = None
        settings = NodeSettings.load(PROPERTIES)
        self.now = NOW
        self.life = Lifecycle(settings, self.metadata, channel=self, step=self)

    def decide(self, request, now, timeout_ms):
        self.asked.append((request, timeout_ms))
        self._outcome = None
        return Wait.over(self._given)

    def _given(self):
        if isinstance(self._outcome, ErrorCode):
            raise self._outcome.error("says the controller")
        return self._outcome

    def later(self, wait, then):
        self._waiting = wait, then

    def answer(self, outcome):
        """What the controller says: a response, or an error as one at this node would raise it."""
        self._outcome, (wait, then) = outcome, self._waiting
        then(wait.then())

    def start(self, previous=-1):
        self.life.start("a-cluster", INCARNATION, (DIRECTORY,), previous, self.now)
        return self

    def registered(self, epoch=5):
        self.start()
        self.answer(BrokerRegistrationResponse(broker_epoch=epoch))
        return self

    def read_registration(self, broker=1, epoch=5, fenced=True):
        self.metadata.replay(
            RegisterBrokerRecord(
                broker, incarnation_id=bytes([broker]) * 16, broker_epoch=epoch, fenced=fenced
            )
        )

    def serving(self):
        self.registered()
        self.read_registration(fenced=False)
        self.life.metadata_moved(self.now)
        assert self.life.serves
        return self

    def pass_time(self, ms):
        self.now += ms
        self.life.tick(self.now)

    @property
    def last(self):
        return self.asked[-1][0]


# ── taken in ─────────────────────────────────────────────────────────────────────────


def test_it_registers_with_all_that_others_must_know_of_it():
    life = Life().start(previous=4)

    request = life.last
    assert isinstance(request, BrokerRegistrationRequest)
    assert (request.broker_id, request.cluster_id, request.incarnation_id) == (1, "a-cluster", INCARNATION)
    assert [(each.name, each.host, each.port) for each in request.listeners] == [
        ("PLAINTEXT", "localhost", 9092)
    ]
    assert (request.log_dirs, request.previous_broker_epoch) == ([DIRECTORY], 4)


def test_it_asks_one_thing_at_a_time():
    life = Life().start()
    life.pass_time(60_000)

    assert len(life.asked) == 1
    assert life.life.next_deadline() == NEVER


def test_registered_it_says_that_it_is_alive_again_and_again():
    life = Life().registered()

    life.pass_time(HEARTBEAT_MS - 1)
    assert len(life.asked) == 1
    life.pass_time(1)
    assert isinstance(life.last, BrokerHeartbeatRequest)
    assert (life.last.broker_id, life.last.broker_epoch, life.last.want_shut_down) == (1, 5, False)
    life.answer(BrokerHeartbeatResponse())
    life.pass_time(HEARTBEAT_MS)
    assert len(life.asked) == 3


def test_as_soon_as_it_has_read_of_its_registration_it_says_so():
    life = Life().registered()
    life.read_registration()
    life.life.metadata_moved(life.now)

    assert isinstance(life.last, BrokerHeartbeatRequest)
    assert life.last.current_metadata_offset == 0  # the record's offset
    assert not life.life.serves


def test_it_serves_when_it_has_read_that_it_is_let_in():
    life = Life().registered()
    life.read_registration()
    assert not life.life.serves
    life.metadata.replay(BrokerRegistrationChangeRecord(1, 5, fenced=LET_IN))

    assert life.life.serves


def test_a_registration_of_an_earlier_life_is_not_its_own():
    life = Life()
    life.read_registration(epoch=3, fenced=False)
    life.registered(epoch=5)

    assert life.life.image is None
    assert not life.life.serves


@pytest.mark.parametrize(
    "refusal",
    [
        BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION.number),
        ErrorCode.DUPLICATE_BROKER_REGISTRATION,
    ],
)
def test_a_broker_that_is_not_taken_in_knows_why_and_tries_again(refusal):
    life = Life().start()
    life.answer(refusal)

    assert "is not taken in by its cluster" in life.life.trouble
    life.pass_time(RETRY_MS * 5)
    assert len(life.asked) == 2
    life.answer(BrokerRegistrationResponse(broker_epoch=5))
    assert life.life.trouble is None


def test_if_nobody_could_be_asked_that_is_no_refusal():
    life = Life().start()
    life.answer(ErrorCode.REQUEST_TIMED_OUT)

    assert life.life.trouble is None
    life.pass_time(RETRY_MS * 5)
    assert len(life.asked) == 2


# ── kept ─────────────────────────────────────────────────────────────────────────────


def test_one_that_is_fenced_and_alive_says_so_at_once():
    life = Life().serving()
    life.metadata.replay(BrokerRegistrationChangeRecord(1, 5, fenced=FENCED))
    life.life.metadata_moved(life.now)

    assert isinstance(life.last, BrokerHeartbeatRequest)
    assert not life.life.serves


@pytest.mark.parametrize("code", [ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED])
@pytest.mark.parametrize("by", ["a response", "an error"])
def test_one_that_the_controller_does_not_know_registers_again(code, by):
    """A controller at this very node raises what another answers."""
    life = Life().serving()
    life.pass_time(HEARTBEAT_MS)
    life.answer(BrokerHeartbeatResponse(error_code=code.number) if by == "a response" else code)

    assert life.life.stage is Stage.REGISTERING
    life.pass_time(0)
    assert isinstance(life.last, BrokerRegistrationRequest)


def test_a_heartbeat_that_nobody_answers_is_followed_by_another_soon():
    life = Life().serving()
    life.pass_time(HEARTBEAT_MS)
    assert life.asked[-1][1] == SESSION_MS
    life.answer(ErrorCode.REQUEST_TIMED_OUT)

    assert life.life.next_deadline() == life.now + RETRY_MS
    assert life.life.stage is Stage.REGISTERED


def test_when_another_would_leave_it_says_at_once_how_far_it_has_read():
    """The one that leaves waits until all know who leads instead."""
    life = Life().serving()
    life.read_registration(broker=2, epoch=6, fenced=False)
    life.metadata.replay(BrokerRegistrationChangeRecord(2, 6, in_controlled_shutdown=1))
    life.life.metadata_moved(life.now)

    assert isinstance(life.last, BrokerHeartbeatRequest)
    assert life.last.current_metadata_offset == 2


# ── let go ───────────────────────────────────────────────────────────────────────────


def beside_another():
    life = Life().serving()
    life.read_registration(broker=2, epoch=6, fenced=False)
    assert isinstance(life.metadata.image.brokers[2], BrokerImage)
    return life


def test_one_that_is_alone_asks_too_and_again_at_once():
    """As Kafka's does: that it is gone is to stand in the metadata."""
    life = Life().serving()
    life.life.leave(life.now)
    life.answer(BrokerHeartbeatResponse(should_shut_down=False))

    life.pass_time(0)
    assert life.last.want_shut_down
    life.answer(BrokerHeartbeatResponse(should_shut_down=True))
    assert life.life.stage is Stage.LEFT


def test_one_that_is_alone_goes_without_a_word_where_that_cannot_be_written():
    life = Life().serving()
    life.life.leave(life.now)
    life.answer(ErrorCode.KAFKA_STORAGE_ERROR)

    assert life.life.stage is Stage.LEFT


def test_the_metadata_says_of_one_that_is_alone_that_it_has_stopped_and_lets_the_next_one_in_at_once():
    node = SmallNode()
    node.create("t")
    node.carry_out(node.node.leave(node.now))
    while not node.node.has_left:
        node.wake()

    image = node.node.broker.image
    left = image.topics["t"].partitions[0]
    assert image.brokers[1].fenced
    assert (left.leader, left.isr, left.elr, left.last_known_elr) == (-1, (), (1,), (1,))
    node.restart()
    back = node.node.broker.image.topics["t"].partitions[0]
    assert (back.leader, back.isr, back.elr, back.leader_epoch) == (1, (1,), (), 2)


def test_it_asks_to_leave_until_it_may():
    life = beside_another()
    life.life.leave(life.now)
    assert life.last.want_shut_down
    life.answer(BrokerHeartbeatResponse(should_shut_down=False))

    assert life.life.stage is Stage.LEAVING
    life.pass_time(LEAVING_MS)
    assert life.last.want_shut_down
    life.answer(BrokerHeartbeatResponse(should_shut_down=True))
    assert life.life.stage is Stage.LEFT


def test_it_asks_to_leave_after_a_heartbeat_that_is_under_way():
    life = beside_another()
    life.pass_time(HEARTBEAT_MS)
    life.life.leave(life.now)
    assert not life.last.want_shut_down
    life.answer(BrokerHeartbeatResponse())

    life.pass_time(LEAVING_MS)
    assert life.last.want_shut_down


@pytest.mark.parametrize(
    "outcome",
    [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.STALE_BROKER_EPOCH, BrokerHeartbeatResponse(error_code=77)],
)
def test_it_goes_without_a_word_if_there_is_nobody_to_ask_or_nobody_knows_it(outcome):
    life = beside_another()
    life.life.leave(life.now)
    life.answer(outcome)

    assert life.life.stage is Stage.LEFT


def test_the_last_one_of_a_quorum_that_has_gone_before_it_just_goes():
    life = Life().serving()
    life.metadata.can_be_decided_on = False
    life.life.leave(life.now)

    assert life.life.stage is Stage.LEFT


def test_one_that_was_never_let_in_just_goes():
    life = Life().start()
    life.life.leave(life.now)

    assert life.life.stage is Stage.LEFT


# ── in a cluster ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [1, 2, 3])
def test_one_that_is_unregistered_while_it_lives_is_back_soon_and_in_sync(number):
    cluster = small_cluster()
    create(cluster, "t")

    cluster.answer(3, UnregisterBrokerRequest(number))
    cluster.until(lambda: number in cluster.image.brokers and cluster.members[number].node.ready, ms=10_000)

    cluster.until(lambda: all_in_sync(cluster, "t"), ms=10_000)


def test_one_that_cannot_be_heard_is_fenced_and_let_in_again():
    cluster = small_cluster((1, 2, 3, 4), voters=(4,), without_broker=(4,))
    create(cluster, "t")
    epoch = cluster.broker(3).lifecycle.epoch
    cluster.isolate(3)
    cluster.until(lambda: cluster.image.brokers[3].fenced, ms=SESSION_MS * 2)

    cluster.heal()
    cluster.until(lambda: all_in_sync(cluster, "t"))

    assert cluster.broker(3).lifecycle.epoch == epoch  # it is the same life


def test_one_that_does_not_know_a_level_of_the_cluster_says_which():
    life = Life().start()
    life.metadata.replay(FeatureLevelRecord("share.version", 2))

    life.answer(ErrorCode.UNSUPPORTED_VERSION)

    assert life.life.trouble == (
        "broker 1 is not taken in by its cluster: the cluster's share.version is 2, and this version of Andiron knows "
        "0 to 1"
    )
