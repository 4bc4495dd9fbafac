"""A broker's place in its cluster: taken in, kept by heartbeats, let go."""

import pytest

from andiron.broker.metadata.broker_lifecycle import TRANSITIONS, BrokerLifecycle, BrokerState, LifecycleEvent
from andiron.broker.node.patience import LEAVING_MS, LIFECYCLE_RETRY_MS
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
from andiron.model.invariant import BrokenInvariant
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from andiron.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from andiron.wire.messages.unregister_broker import UnregisterBrokerRequest
from worlds.cluster_client import all_in_sync, create, small_cluster
from worlds.node import PROPERTIES, SmallNode
from worlds.state_table import state_table

NOW, HEARTBEAT_MS, SESSION_MS = 1_000_000, 2_000, 9_000
FENCED, LET_IN = 1, -1
INCARNATION, DIRECTORY = b"i" * 16, b"d" * 16


class Known:
    """Metadata as far as a lifecycle needs it: the image, and how much of it is applied."""

    def __init__(self):
        self.image, self.applied = Image(), Offset(0)
        self.can_be_decided_on = True

    def replay(self, record):
        self.image.replay(record, self.applied)
        self.applied = Offset(self.applied + 1)


class LoneBroker:
    """A broker with a controller that answers when the test says so."""

    def __init__(self):
        self.metadata, self.asked = Known(), []
        self._waiting = None
        settings = NodeSettings.load(PROPERTIES)
        self.now = NOW
        self.lifecycle = BrokerLifecycle(settings, self.metadata, channel=self, step=self)

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
        self.lifecycle.start("a-cluster", INCARNATION, (DIRECTORY,), previous, self.now)
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
        self.lifecycle.metadata_moved(self.now)
        assert self.lifecycle.serves
        return self

    def pass_time(self, ms):
        self.now += ms
        self.lifecycle.tick(self.now)

    @property
    def last(self):
        return self.asked[-1][0]


# ── the table ────────────────────────────────────────────────────────────────────────

PICTURE = """
                             START     REGISTERED     REFUSED        LEAVE                        STOP
NOT_RUNNING                  STARTING                                                             SHUTTING_DOWN
STARTING                               RUNNING                                                    SHUTTING_DOWN
RUNNING                                               STARTING       PENDING_CONTROLLED_SHUTDOWN  SHUTTING_DOWN
PENDING_CONTROLLED_SHUTDOWN                           SHUTTING_DOWN                               SHUTTING_DOWN
SHUTTING_DOWN                          SHUTTING_DOWN  SHUTTING_DOWN                               SHUTTING_DOWN
"""


def test_the_lifecycle_is_this_table():
    assert state_table(BrokerState, LifecycleEvent, TRANSITIONS) == PICTURE


def test_what_cannot_be_is_a_bug_and_nothing_else():
    broker = LoneBroker().serving()

    with pytest.raises(BrokenInvariant, match="lifecycle goes by its table: RUNNING, START"):
        broker.start()


def test_a_broker_that_shuts_down_does_so_whatever_it_is_still_answered():
    broker = LoneBroker().start()
    broker.lifecycle.leave(broker.now)
    broker.answer(BrokerRegistrationResponse(broker_epoch=5))

    assert broker.lifecycle.has_left
    assert broker.lifecycle.epoch == 5  # under which it stops cleanly


# ── taken in ─────────────────────────────────────────────────────────────────────────


def test_it_registers_with_all_that_others_must_know_of_it():
    broker = LoneBroker().start(previous=4)

    request = broker.last
    assert isinstance(request, BrokerRegistrationRequest)
    assert (request.broker_id, request.cluster_id, request.incarnation_id) == (1, "a-cluster", INCARNATION)
    assert [(each.name, each.host, each.port) for each in request.listeners] == [
        ("PLAINTEXT", "localhost", 9092)
    ]
    assert (request.log_dirs, request.previous_broker_epoch) == ([DIRECTORY], 4)


def test_it_asks_one_thing_at_a_time():
    broker = LoneBroker().start()
    broker.pass_time(60_000)

    assert len(broker.asked) == 1
    assert broker.lifecycle.next_deadline() == NEVER


def test_registered_it_says_that_it_is_alive_again_and_again():
    broker = LoneBroker().registered()

    broker.pass_time(HEARTBEAT_MS - 1)
    assert len(broker.asked) == 1
    broker.pass_time(1)
    assert isinstance(broker.last, BrokerHeartbeatRequest)
    assert (broker.last.broker_id, broker.last.broker_epoch, broker.last.want_shut_down) == (1, 5, False)
    broker.answer(BrokerHeartbeatResponse())
    broker.pass_time(HEARTBEAT_MS)
    assert len(broker.asked) == 3


def test_as_soon_as_it_has_read_of_its_registration_it_says_so():
    broker = LoneBroker().registered()
    broker.read_registration()
    broker.lifecycle.metadata_moved(broker.now)

    assert isinstance(broker.last, BrokerHeartbeatRequest)
    assert broker.last.current_metadata_offset == 0  # the record's offset
    assert not broker.lifecycle.serves


def test_it_serves_when_it_has_read_that_it_is_let_in():
    broker = LoneBroker().registered()
    broker.read_registration()
    assert not broker.lifecycle.serves
    broker.metadata.replay(BrokerRegistrationChangeRecord(1, 5, fenced=LET_IN))

    assert broker.lifecycle.serves


def test_a_registration_of_an_earlier_incarnation_is_not_its_own():
    broker = LoneBroker()
    broker.read_registration(epoch=3, fenced=False)
    broker.registered(epoch=5)

    assert broker.lifecycle.image is None
    assert not broker.lifecycle.serves


@pytest.mark.parametrize(
    "refusal",
    [
        BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION.number),
        ErrorCode.DUPLICATE_BROKER_REGISTRATION,
    ],
)
def test_a_broker_that_is_not_taken_in_knows_why_and_tries_again(refusal):
    broker = LoneBroker().start()
    broker.answer(refusal)

    assert "is not taken in by its cluster" in broker.lifecycle.trouble
    broker.pass_time(LIFECYCLE_RETRY_MS * 5)
    assert len(broker.asked) == 2
    broker.answer(BrokerRegistrationResponse(broker_epoch=5))
    assert broker.lifecycle.trouble is None


def test_if_nobody_could_be_asked_that_is_no_refusal():
    broker = LoneBroker().start()
    broker.answer(ErrorCode.REQUEST_TIMED_OUT)

    assert broker.lifecycle.trouble is None
    broker.pass_time(LIFECYCLE_RETRY_MS * 5)
    assert len(broker.asked) == 2


# ── kept ─────────────────────────────────────────────────────────────────────────────


def test_one_that_is_fenced_and_alive_says_so_at_once():
    broker = LoneBroker().serving()
    broker.metadata.replay(BrokerRegistrationChangeRecord(1, 5, fenced=FENCED))
    broker.lifecycle.metadata_moved(broker.now)

    assert isinstance(broker.last, BrokerHeartbeatRequest)
    assert not broker.lifecycle.serves


@pytest.mark.parametrize("code", [ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED])
@pytest.mark.parametrize("by", ["a response", "an error"])
def test_one_that_the_controller_does_not_know_registers_again(code, by):
    """A controller at this very node raises what another answers."""
    broker = LoneBroker().serving()
    broker.pass_time(HEARTBEAT_MS)
    broker.answer(BrokerHeartbeatResponse(error_code=code.number) if by == "a response" else code)

    assert broker.lifecycle.state is BrokerState.STARTING
    broker.pass_time(0)
    assert isinstance(broker.last, BrokerRegistrationRequest)


def test_a_heartbeat_that_nobody_answers_is_followed_by_another_soon():
    broker = LoneBroker().serving()
    broker.pass_time(HEARTBEAT_MS)
    assert broker.asked[-1][1] == SESSION_MS
    broker.answer(ErrorCode.REQUEST_TIMED_OUT)

    assert broker.lifecycle.next_deadline() == broker.now + LIFECYCLE_RETRY_MS
    assert broker.lifecycle.state is BrokerState.RUNNING


def test_a_controller_that_goes_on_being_silent_is_in_the_log_once_a_minute(caplog):
    broker = LoneBroker().serving()
    began = broker.now
    while broker.now <= began + 60_000 + HEARTBEAT_MS:
        broker.pass_time(HEARTBEAT_MS)
        broker.answer(ErrorCode.REQUEST_TIMED_OUT)

    told = [each for each in caplog.messages if each.startswith("Controller does not answer broker 1")]
    assert [each.rpartition(" ")[2] for each in told] == ["suppressed=0", "suppressed=29"]


def test_when_another_would_leave_it_says_at_once_how_far_it_has_read():
    """The one that leaves waits until all know who leads instead."""
    broker = LoneBroker().serving()
    broker.read_registration(broker=2, epoch=6, fenced=False)
    broker.metadata.replay(BrokerRegistrationChangeRecord(2, 6, in_controlled_shutdown=1))
    broker.lifecycle.metadata_moved(broker.now)

    assert isinstance(broker.last, BrokerHeartbeatRequest)
    assert broker.last.current_metadata_offset == 2


# ── let go ───────────────────────────────────────────────────────────────────────────


def beside_another():
    broker = LoneBroker().serving()
    broker.read_registration(broker=2, epoch=6, fenced=False)
    assert isinstance(broker.metadata.image.brokers[2], BrokerImage)
    return broker


def test_one_that_is_alone_asks_too_and_again_at_once():
    """As Kafka's does: that it is gone is to stand in the metadata."""
    broker = LoneBroker().serving()
    broker.lifecycle.leave(broker.now)
    broker.answer(BrokerHeartbeatResponse(should_shut_down=False))

    broker.pass_time(0)
    assert broker.last.want_shut_down
    broker.answer(BrokerHeartbeatResponse(should_shut_down=True))
    assert broker.lifecycle.state is BrokerState.SHUTTING_DOWN


def test_one_that_is_alone_goes_without_a_word_where_that_cannot_be_written():
    broker = LoneBroker().serving()
    broker.lifecycle.leave(broker.now)
    broker.answer(ErrorCode.KAFKA_STORAGE_ERROR)

    assert broker.lifecycle.state is BrokerState.SHUTTING_DOWN


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
    broker = beside_another()
    broker.lifecycle.leave(broker.now)
    assert broker.last.want_shut_down
    broker.answer(BrokerHeartbeatResponse(should_shut_down=False))

    assert broker.lifecycle.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
    broker.pass_time(LEAVING_MS)
    assert broker.last.want_shut_down
    broker.answer(BrokerHeartbeatResponse(should_shut_down=True))
    assert broker.lifecycle.state is BrokerState.SHUTTING_DOWN


def test_it_asks_to_leave_after_a_heartbeat_that_is_under_way():
    broker = beside_another()
    broker.pass_time(HEARTBEAT_MS)
    broker.lifecycle.leave(broker.now)
    assert not broker.last.want_shut_down
    broker.answer(BrokerHeartbeatResponse())

    broker.pass_time(LEAVING_MS)
    assert broker.last.want_shut_down


@pytest.mark.parametrize(
    "outcome",
    [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.STALE_BROKER_EPOCH, BrokerHeartbeatResponse(error_code=77)],
)
def test_it_goes_without_a_word_if_there_is_nobody_to_ask_or_nobody_knows_it(outcome):
    broker = beside_another()
    broker.lifecycle.leave(broker.now)
    broker.answer(outcome)

    assert broker.lifecycle.state is BrokerState.SHUTTING_DOWN


def test_the_last_one_of_a_quorum_that_has_gone_before_it_just_goes():
    broker = LoneBroker().serving()
    broker.metadata.can_be_decided_on = False
    broker.lifecycle.leave(broker.now)

    assert broker.lifecycle.state is BrokerState.SHUTTING_DOWN


def test_one_that_was_never_let_in_just_goes():
    broker = LoneBroker().start()
    broker.lifecycle.leave(broker.now)

    assert broker.lifecycle.state is BrokerState.SHUTTING_DOWN


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

    assert cluster.broker(3).lifecycle.epoch == epoch  # it has not registered again


def test_one_that_does_not_know_a_level_of_the_cluster_says_which():
    broker = LoneBroker().start()
    broker.metadata.replay(FeatureLevelRecord("share.version", 2))

    broker.answer(ErrorCode.UNSUPPORTED_VERSION)

    assert broker.lifecycle.trouble == (
        "broker 1 is not taken in by its cluster: the cluster's share.version is 2, and this version of Andiron knows "
        "0 to 1"
    )
