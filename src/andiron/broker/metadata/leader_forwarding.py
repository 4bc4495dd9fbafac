"""Requests that only the leader of the metadata quorum can answer are forwarded to it, as KIP-590 has it.

    this node leads ─▶ here
    on a controller's listener ─▶ refused: whoever asks there finds the leader itself
    on a broker's ─▶ passed on to the leader; if that is this node by the time it is asked, here after all

Read next: handlers/describe_quorum.py, handlers/add_raft_voter.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from andiron.broker.broker import Broker
from andiron.broker.node.patience import CONTROLLER_DECISION_MS
from andiron.broker.node.request import Request
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError

T = TypeVar("T")


def at_quorum_leader(
    broker: Broker,
    request: Request[Any],
    here: Callable[[], T | Wait],
    refusal: Callable[[ProtocolError], T],
    timeout_ms: int = CONTROLLER_DECISION_MS,
) -> T | Wait:
    """What `here` says where the quorum is led, or what a `refusal` makes of the reason why it cannot be had."""
    if broker.controller.is_active:
        return here()
    if request.listener in broker.settings.controller_listeners:
        return refusal(ErrorCode.NOT_LEADER_OR_FOLLOWER.error("another node leads the quorum"))

    def otherwise(error: ProtocolError) -> T | Wait:
        return here() if broker.controller.is_active else refusal(error)

    return broker.pass_on(request, timeout_ms).or_else(otherwise)
