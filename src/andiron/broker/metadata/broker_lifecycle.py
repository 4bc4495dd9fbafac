"""A broker's lifecycle (KIP-631): it registers, catches up, is let in, says that it lives, and leaves.

    NOT_RUNNING ──▶ STARTING ──broker epoch──▶ RUNNING ──leave──▶ PENDING_CONTROLLED_SHUTDOWN ──▶ SHUTTING_DOWN
                       ▲                          │
                       └── STALE_BROKER_EPOCH, BROKER_ID_NOT_REGISTERED: the controller does not know it so

Which state follows is in one table, `TRANSITIONS`, and one method reads it.

A broker is let in when it has read the metadata up to its own registration: then it knows all that it leads. From then
on its heartbeats say that it is alive; without them the controller fences it, and others lead. It serves clients once
it has read in the metadata that it is let in, which is the one thing that counts: fenced or not is no state here, but
what the committed metadata says (`serves`).

Before it stops it asks to leave (controlled shutdown): its leaderships go to others first, and nobody has to wait for a
session to run out. One that is alone has nobody to hand over to. It asks all the same, as Kafka's does: that it is gone
stands in the metadata then, and whoever opens its folder next, be it Kafka, is let in at once.

A node that is a controller makes itself known as such beside that, and that is all there is to it
(controller_registration.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.controller_registration import ControllerRegistration
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.log_limiter import LogLimiter
from andiron.broker.node.patience import LEAVING_ALONE_MS, LEAVING_MS, LIFECYCLE_RETRY_MS
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.features import OFFERED, unsupported
from andiron.controller.image import BrokerImage
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, NodeId
from andiron.model.invariant import invariant
from andiron.model.line import Line
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from andiron.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)

PLAINTEXT = 0  # the security protocol, by its number

log = logging.getLogger(__name__)


class BrokerState(IntEnum):
    """Where in its lifecycle a broker is, by the numbers of Kafka's BrokerState.

    Kafka's RECOVERY (2), registered and not yet let in, is RUNNING here.
    """

    NOT_RUNNING = 0
    STARTING = 1
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


class LifecycleEvent(Enum):
    """What moves a broker through its lifecycle."""

    START = "the node has opened its directories"
    REGISTERED = "the controller has registered it, and given it a broker epoch"
    REFUSED = "the controller does not know it, or knows it under another broker epoch"
    LEAVE = "it asks the controller for a controlled shutdown"
    STOP = "the controller lets it go, or there is nobody to ask"


_NOT_RUNNING, _STARTING, _RUNNING, _LEAVING, _SHUTTING_DOWN = BrokerState
_START, _REGISTERED, _REFUSED, _LEAVE, _STOP = LifecycleEvent

# What follows in each state upon each event; what is not here cannot be. A broker that shuts down does so whatever it
# is still answered.
TRANSITIONS: dict[tuple[BrokerState, LifecycleEvent], BrokerState] = {
    (_NOT_RUNNING, _START): _STARTING,
    (_NOT_RUNNING, _STOP): _SHUTTING_DOWN,
    (_STARTING, _REGISTERED): _RUNNING,
    (_STARTING, _STOP): _SHUTTING_DOWN,
    (_RUNNING, _REFUSED): _STARTING,
    (_RUNNING, _LEAVE): _LEAVING,
    (_RUNNING, _STOP): _SHUTTING_DOWN,
    (_LEAVING, _REFUSED): _SHUTTING_DOWN,
    (_LEAVING, _STOP): _SHUTTING_DOWN,
    (_SHUTTING_DOWN, _REGISTERED): _SHUTTING_DOWN,
    (_SHUTTING_DOWN, _REFUSED): _SHUTTING_DOWN,
    (_SHUTTING_DOWN, _STOP): _SHUTTING_DOWN,
}


class BrokerLifecycle:
    """Registers this broker, and keeps it in the cluster."""

    def __init__(
        self, settings: NodeSettings, metadata: MetadataLoader, channel: ControllerChannel, step: Step
    ) -> None:
        self._settings, self._metadata, self._channel, self._step = settings, metadata, channel, step
        self.controller = ControllerRegistration(settings, metadata, channel, step)
        self._has_unopened_logs = False
        self.me = NodeId(settings.node_id)
        self.state = BrokerState.NOT_RUNNING
        self.epoch = -1  # its broker epoch; -1 until it is registered
        self.trouble: str | None = None  # why it cannot be registered
        self._request: BrokerRegistrationRequest | None = None
        self._asking = False  # a request to the controller is under way
        self._due = NEVER
        self._was_fenced = False
        self._log_limiter = LogLimiter()

    def start(
        self,
        cluster_id: str,
        incarnation: bytes,
        log_dirs: tuple[bytes, ...],
        previous_epoch: int,
        now: Millis,
    ) -> None:
        """Register; `previous_epoch` is the one under which it last stopped cleanly, or -1."""
        self._request = BrokerRegistrationRequest(
            broker_id=self.me,
            cluster_id=cluster_id,
            incarnation_id=incarnation,
            listeners=[Listener(*each, PLAINTEXT) for each in self._settings.advertised],
            features=[Feature(name, least, most) for name, (least, most) in OFFERED.items()],
            rack=self._settings.broker.broker_rack,
            log_dirs=list(log_dirs),
            previous_broker_epoch=previous_epoch,
        )
        self._move(LifecycleEvent.START)
        self._register(now)

    @property
    def image(self) -> BrokerImage | None:
        """This broker as the committed metadata has it, if it has this broker epoch there."""
        known = self._metadata.image.brokers.get(self.me)
        return known if known is not None and known.epoch == self.epoch else None

    @property
    def serves(self) -> bool:
        """Whether it has read that it is let in."""
        known = self.image
        return known is not None and not known.fenced

    @property
    def is_broker(self) -> bool:
        """Whether this node is a broker at all, and not a controller only."""
        return "broker" in self._settings.roles

    @property
    def has_left(self) -> bool:
        """Whether the node may stop: others lead what it led, or nobody can be asked to."""
        return self.state is BrokerState.SHUTTING_DOWN

    def _move(self, event: LifecycleEvent) -> None:
        follows = (self.state, event) in TRANSITIONS
        invariant(follows, "a broker's lifecycle goes by its table", self.state.name, event.name)
        self.state = TRANSITIONS[self.state, event]

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        is_at_rest = self._asking or self.state in (BrokerState.NOT_RUNNING, BrokerState.SHUTTING_DOWN)
        return min(NEVER if is_at_rest else self._due, self.controller.next_deadline())

    def tick(self, now: Millis) -> None:
        """Do what is due, one question at a time."""
        self.controller.tick(now)
        if self._asking or self._due > now:
            return
        if self.state is BrokerState.STARTING:
            self._register(now)
        elif self.state in (BrokerState.RUNNING, BrokerState.PENDING_CONTROLLED_SHUTDOWN):
            self._heartbeat(now)

    def metadata_moved(self, now: Millis) -> None:
        """The metadata has news of brokers: if this one has now read that it is registered, or fenced, or that another
        would leave and waits for all to know who leads now, it says so at once."""
        known, was_fenced = self.image, self._was_fenced
        self._was_fenced = known is not None and known.fenced
        leaving = any(each.stopping and not each.fenced for each in self._metadata.image.brokers.values())
        if self.state is BrokerState.RUNNING and (leaving or (self._was_fenced and not was_fenced)):
            self._due = now
            self.tick(now)

    def logs_left(self, are_left: bool) -> None:
        """Whether there are logs still to be opened: until they are, the broker would rather stay fenced."""
        self._has_unopened_logs = are_left

    def opened(self, now: Millis) -> None:
        """All logs are open: nothing stands in the way of being let in."""
        if self.state is BrokerState.RUNNING and not self.serves:
            self._due = now
            self.tick(now)

    def leave(self, now: Millis) -> None:
        """Ask for a controlled shutdown (controlled.shutdown.enable); where that cannot be, just go."""
        in_order = self.is_broker and self._settings.membership.controlled_shutdown_enable
        is_in = self.state is BrokerState.RUNNING and self.serves
        if in_order and is_in and self._metadata.can_be_decided_on:
            self._move(LifecycleEvent.LEAVE)
            self._due = now
            self.tick(now)
        else:
            self._move(LifecycleEvent.STOP)

    # ── asking ───────────────────────────────────────────────────────────────────────

    def _register(self, now: Millis) -> None:
        assert self._request is not None
        timeout_ms = self._settings.membership.broker_session_timeout_ms
        asked = self._channel.decide(self._request, now, timeout_ms)
        self._ask(asked, BrokerRegistrationResponse, self._registered)

    def _registered(self, response: BrokerRegistrationResponse | None) -> None:
        now = self._step.now
        if response is None or response.error_code:
            if response is not None:
                code = ErrorCode.of(response.error_code)
                if code is ErrorCode.DUPLICATE_BROKER_REGISTRATION:
                    log.info(Line(
                        "Broker {broker} registers when the session of its predecessor has run out",
                        broker=self.me, error=code.name,
                    ))  # fmt: skip
                    why = code.meaning
                else:
                    why = self._why(code)
                    log.error(Line(
                        "Broker {broker} is refused by the controller and serves nobody",
                        broker=self.me, error=why,
                    ))  # fmt: skip
                self.trouble = f"broker {self.me} is not taken in by its cluster: {why}"
            self._due = Millis(now + LIFECYCLE_RETRY_MS * 5)
            return
        self._move(LifecycleEvent.REGISTERED)
        self.epoch, self.trouble, self._was_fenced = response.broker_epoch, None, False
        log.info(Line("Broker {broker} is registered", broker=self.me, broker_epoch=self.epoch))
        self._due = Millis(now + self._settings.membership.broker_heartbeat_interval_ms)
        self.metadata_moved(now)

    def _why(self, code: ErrorCode) -> str:
        """Why it is refused; the answer has no words, but which level is not known here can be looked up."""
        trouble = unsupported(self._metadata.image.features, OFFERED, "this version of Andiron")
        return trouble if code is ErrorCode.UNSUPPORTED_VERSION and trouble is not None else code.meaning

    def _heartbeat(self, now: Millis) -> None:
        settings = self._settings.membership
        leaves = self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        request = BrokerHeartbeatRequest(
            self.me,
            self.epoch,
            self._metadata.applied - 1,
            want_fence=not self.serves and self._has_unopened_logs,
            want_shut_down=leaves,
        )
        self._due = Millis(now + settings.broker_heartbeat_interval_ms)
        timeout_ms = LEAVING_ALONE_MS if leaves else settings.broker_session_timeout_ms
        self._ask(self._channel.decide(request, now, timeout_ms), BrokerHeartbeatResponse, self._answered)

    def _answered(self, response: BrokerHeartbeatResponse | None) -> None:
        now, leaves = self._step.now, self.state is BrokerState.PENDING_CONTROLLED_SHUTDOWN
        if response is None:
            self._due = Millis(now + LIFECYCLE_RETRY_MS)
            if leaves:
                self._move(LifecycleEvent.STOP)
        elif response.error_code in (
            ErrorCode.STALE_BROKER_EPOCH.number,
            ErrorCode.BROKER_ID_NOT_REGISTERED.number,
        ):
            log.warning(Line(
                "Broker {broker} was forgotten by the controller, and registers again unless it is stopping",
                broker=self.me, broker_epoch=self.epoch, error=ErrorCode.of(response.error_code).name,
            ))  # fmt: skip
            self._move(LifecycleEvent.REFUSED)
            self._due = now
        elif leaves:
            self._due = now if self._is_last else Millis(now + LEAVING_MS)
            if response.should_shut_down or (response.error_code and self._is_last):
                self._move(LifecycleEvent.STOP)

    @property
    def _is_last(self) -> bool:
        """Whether no other broker has to read that this one leads nothing any more, nor to take over from it."""
        return not any(each.live and each.id != self.me for each in self._metadata.image.brokers.values())

    def _ask(self, wait: Wait, kind: type[Any], then: Callable[[Any], None]) -> None:
        """Go on with the controller's answer; None if there was nobody to ask. A controller at this very node refuses
        by an error, and that is an answer too."""
        self._asking = True

        def answered(response: Any) -> None:
            self._asking = False
            then(response)

        def refused(error: ProtocolError) -> Any:
            if error.code is not ErrorCode.REQUEST_TIMED_OUT:
                return kind(error_code=error.code.number)
            if (suppressed := self._log_limiter.again(self.me, self._step.now)) is not None:
                log.warning(Line(
                    "Controller does not answer broker {broker}, which asks again; see `andiron cluster quorum`",
                    broker=self.me, error=error.detail, suppressed=suppressed,
                ))  # fmt: skip
            return None

        self._step.later(wait.or_else(refused), answered)
