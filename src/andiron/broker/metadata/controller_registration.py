"""A controller makes itself known to the cluster: where it listens, and which features it knows.

    started ──▶ the committed metadata has another incarnation ──▶ ask the controller that leads ──▶ committed
                          ▲                                                        │ nobody leads, it is refused
                          └───────────────────── a little later ───────────────────┘

It stands in the metadata log from then on, for whoever asks controllers for each other (`--bootstrap-controller`).
It is said once an incarnation (KIP-919), and nothing waits for it: a controller votes and leads whether it is
registered or not.

Read next: controller/controller_registrations.py.
"""

from __future__ import annotations

import logging

from andiron.broker.metadata.controller_channel import ControllerChannel
from andiron.broker.metadata.metadata_loader import MetadataLoader
from andiron.broker.node.patience import CONTROLLER_REGISTRATION_MS, CONTROLLER_REGISTRATION_RETRY_MS
from andiron.broker.node.step import Step
from andiron.broker.settings.node_settings import NodeSettings
from andiron.controller.features import OFFERED
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import NEVER, Millis, NodeId
from andiron.model.line import Line
from andiron.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
    Feature,
    Listener,
)

PLAINTEXT = 0  # the security protocol, by its number

log = logging.getLogger(__name__)


class ControllerRegistration:
    """Registers this controller, until it is."""

    def __init__(
        self,
        settings: NodeSettings,
        metadata: MetadataLoader,
        channel: ControllerChannel,
        step: Step,
    ) -> None:
        self._settings, self._metadata, self._channel, self._step = settings, metadata, channel, step
        self._request: ControllerRegistrationRequest | None = None
        self._due = NEVER

    def start(self, incarnation: bytes, now: Millis) -> None:
        """Register this incarnation of the controller, if the node is one."""
        if "controller" not in self._settings.roles:
            return
        self._request = ControllerRegistrationRequest(
            controller_id=self._settings.node_id,
            incarnation_id=incarnation,
            listeners=[Listener(*each, PLAINTEXT) for each in self._settings.controller_endpoints],
            features=[Feature(name, *levels) for name, levels in OFFERED.items()],
        )
        self._due = now
        self.tick(now)

    def next_deadline(self) -> Millis:
        return self._due

    def tick(self, now: Millis) -> None:
        """Ask, if it is time to and not done."""
        if self._due > now or self._request is None:
            return
        self._due = NEVER
        known = self._metadata.image.controllers.get(NodeId(self._settings.node_id))
        if known is None or known.incarnation != self._request.incarnation_id:
            asked = self._channel.decide(self._request, now, CONTROLLER_REGISTRATION_MS).or_else(_refusal)
            self._step.later(asked, self._answered)

    def _answered(self, response: ControllerRegistrationResponse) -> None:
        if response.error_code:
            log.info(Line(
                "Controller {controller} is not registered yet, and tries again",
                controller=self._settings.node_id, error=ErrorCode.of(response.error_code).name,
            ))  # fmt: skip
            self._due = Millis(self._step.now + CONTROLLER_REGISTRATION_RETRY_MS)


def _refusal(error: ProtocolError) -> ControllerRegistrationResponse:
    return ControllerRegistrationResponse(error_code=error.code.number)
