"""A broker's life in its cluster, as its controller sees it.

    registering ──epoch──▶ catching up ──unfenced──▶ serving ──leave──▶ leaving ──may stop──▶ left
        ▲                       │                       │
        └──── the controller does not know us, or in another life (STALE_BROKER_EPOCH) ─┘

A broker is let in when it has read the metadata up to its own registration: then it knows all that it leads. From then
on its heartbeats say that it is alive; without them the controller fences it, and others lead. It serves clients once
it has read in the metadata that it is let in, which is the one thing that counts.

Before it stops it asks to leave: its leaderships go to others first, and nobody has to wait for a session to run out.
One that is alone has nobody to hand over to. It asks all the same, as Kafka's does: that it is gone stands in the
metadata then, and whoever opens its folder next, be it Kafka, is let in at once.

A node that is a controller makes itself known as such beside that, and that is all there is to it
(controller_registration.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum
from typing import Any

from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.controller_registration import ControllerRegistration
from andiron.broker.metadata.metadata import Metadata
from andiron.broker.node.step import Step
from andiron.broker.node.waiting import Wait
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.features import OFFERED, unsupported
from andiron.controller.image import BrokerImage
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, NodeId
from andiron.model.line import Line
from andiron.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from andiron.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)

PLAINTEXT = 0  # the security protocol, by its number
RETRY_MS = 200
LEAVING_MS = 100  # between heartbeats of a broker that would leave
ALONE_MS = 3_000  # after which one that finds no controller leaves without a word

log = logging.getLogger(__name__)


class Stage(Enum):
    """Where in its life a broker is."""

    NOWHERE = "not started"
    REGISTERING = "registering"
    REGISTERED = "registered"
    LEAVING = "leaving"
    LEFT = "left"


class Lifecycle:
    """Registers this broker, and keeps it in the cluster."""

    def __init__(
        self, settings: NodeSettings, metadata: Metadata, channel: ControllerChannel, step: Step
    ) -> None:
        self._settings, self._metadata, self._channel, self._step = settings, metadata, channel, step
        self.controller = ControllerRegistration(settings, metadata, channel, step)
        self._is_busy = False  # with logs that are not open yet
        self.me = NodeId(settings.node_id)
        self.stage = Stage.NOWHERE
        self.epoch = -1
        self.trouble: str | None = None  # why it cannot be registered
        self._request: BrokerRegistrationRequest | None = None
        self._asking = False
        self._due = NEVER
        self._was_fenced = False

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
        self.stage = Stage.REGISTERING
        self._register(now)

    @property
    def image(self) -> BrokerImage | None:
        """This broker as the committed metadata has it, in this life."""
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

    # ── time ─────────────────────────────────────────────────────────────────────────

    def next_deadline(self) -> Millis:
        is_at_rest = self._asking or self.stage in (Stage.NOWHERE, Stage.LEFT)
        return min(NEVER if is_at_rest else self._due, self.controller.next_deadline())

    def tick(self, now: Millis) -> None:
        """Do what is due, one question at a time."""
        self.controller.tick(now)
        if self._asking or self._due > now:
            return
        if self.stage is Stage.REGISTERING:
            self._register(now)
        elif self.stage in (Stage.REGISTERED, Stage.LEAVING):
            self._heartbeat(now)

    def metadata_moved(self, now: Millis) -> None:
        """The metadata has news of brokers: if this one has now read that it is registered, or fenced, or that another
        would leave and waits for all to know who leads now, it says so at once."""
        known, was_fenced = self.image, self._was_fenced
        self._was_fenced = known is not None and known.fenced
        leaving = any(each.stopping and not each.fenced for each in self._metadata.image.brokers.values())
        if self.stage is Stage.REGISTERED and (leaving or (self._was_fenced and not was_fenced)):
            self._due = now
            self.tick(now)

    def logs_left(self, are_left: bool) -> None:
        """Whether there are logs still to be opened: until they are, the broker would rather stay fenced."""
        self._is_busy = are_left

    def opened(self, now: Millis) -> None:
        """All logs are open: nothing stands in the way of being let in."""
        if self.stage is Stage.REGISTERED and not self.serves:
            self._due = now
            self.tick(now)

    def leave(self, now: Millis) -> None:
        """Ask to be let go."""
        if self.stage is Stage.REGISTERED and self.serves and self._metadata.can_be_decided_on:
            self.stage, self._due = Stage.LEAVING, now
            self.tick(now)
        else:
            self.stage = Stage.LEFT

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
            self._due = Millis(now + RETRY_MS * 5)
            return
        self.stage, self.epoch, self.trouble = Stage.REGISTERED, response.broker_epoch, None
        log.info(Line("Broker {broker} is registered", broker=self.me, broker_epoch=self.epoch))
        self._was_fenced, self._due = (
            False,
            Millis(now + self._settings.membership.broker_heartbeat_interval_ms),
        )
        self.metadata_moved(now)

    def _why(self, code: ErrorCode) -> str:
        """Why it is refused; the answer has no words, but which level is not known here can be looked up."""
        trouble = unsupported(self._metadata.image.features, OFFERED, "this version of Andiron")
        return trouble if code is ErrorCode.UNSUPPORTED_VERSION and trouble is not None else code.meaning

    def _heartbeat(self, now: Millis) -> None:
        settings = self._settings.membership
        request = BrokerHeartbeatRequest(
            self.me,
            self.epoch,
            self._metadata.applied - 1,
            want_fence=not self.serves and self._is_busy,
            want_shut_down=self.stage is Stage.LEAVING,
        )
        self._due = Millis(now + settings.broker_heartbeat_interval_ms)
        timeout_ms = ALONE_MS if self.stage is Stage.LEAVING else settings.broker_session_timeout_ms
        self._ask(self._channel.decide(request, now, timeout_ms), BrokerHeartbeatResponse, self._answered)

    def _answered(self, response: BrokerHeartbeatResponse | None) -> None:
        now = self._step.now
        if response is None:
            self._due = Millis(now + RETRY_MS)
            if self.stage is Stage.LEAVING:
                self.stage = Stage.LEFT
        elif response.error_code in (
            ErrorCode.STALE_BROKER_EPOCH.number,
            ErrorCode.BROKER_ID_NOT_REGISTERED.number,
        ):
            log.warning(Line(
                "Broker {broker} was forgotten by the controller and registers again",
                broker=self.me, broker_epoch=self.epoch, error=ErrorCode.of(response.error_code).name,
            ))  # fmt: skip
            if self.stage is Stage.LEAVING:
                self.stage = Stage.LEFT
            else:
                self.stage, self._due = Stage.REGISTERING, now
        elif self.stage is Stage.LEAVING:
            self._due = now if self._is_last else Millis(now + LEAVING_MS)
            if response.should_shut_down or (response.error_code and self._is_last):
                self.stage = Stage.LEFT

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
            log.warning(Line(
                "Controller does not answer broker {broker}, which asks again; see `andiron cluster quorum`",
                broker=self.me, error=error.detail,
            ))  # fmt: skip
            return None

        self._step.later(wait.or_else(refused), answered)
