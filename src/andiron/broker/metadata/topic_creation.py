"""Topics that a broker has made for somebody: a client that asks for them, or a coordinator that lives in them.

    CreateTopics ─▶ the controller, wherever it is ─▶ its answer ┄┄ until the topics are known here too ┄▶ the client

The controller answers when a majority has the topic; this broker reads of it a moment later. A client that is told
before that would ask here for what is not known yet, so its answer waits for that moment.

A coordinator that cannot have its topic serves nobody, and its clients try again and again. So why it cannot is in
each of their answers, and in the log: once, until there is another reason, or none.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from andiron.broker.broker import Broker
from andiron.broker.coordinators.internal_topics import internal_topic
from andiron.broker.node.patience import TOPIC_KNOWN_MS
from andiron.broker.node.waiting import Wait
from andiron.model.errors import ErrorCode, ProtocolError
from andiron.model.ids import Millis
from andiron.model.line import Line
from andiron.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse

T = TypeVar("T")

log = logging.getLogger(__name__)


def create_internal(broker: Broker, topic: str, now: Millis) -> Wait:
    """Make a topic that a coordinator needs. The Wait gives the controller's answer; why there is none to be had, or
    what it says against it, is noted (`Broker.unmade`)."""

    def made(answer: CreateTopicsResponse) -> CreateTopicsResponse:
        result = answer.topics[0]
        if result.error_code in (ErrorCode.NONE.number, ErrorCode.TOPIC_ALREADY_EXISTS.number):
            if broker.internal_topic_errors.pop(topic, None) is not None:
                log.info(Line("Internal topic {topic} is created after all", topic=topic))
        else:
            refused = ErrorCode.of(result.error_code)
            _note(broker, topic, result.error_message or refused.meaning)
        return answer

    def failed(error: ProtocolError) -> CreateTopicsResponse:
        _note(broker, topic, error.detail or error.code.meaning)
        raise error

    wanted = CreateTopicsRequest([internal_topic(topic, broker.settings)])
    return broker.decide(wanted, now).or_else(failed).and_then(made)


def _note(broker: Broker, topic: str, reason: str) -> None:
    if broker.internal_topic_errors.get(topic) != reason:
        broker.internal_topic_errors[topic] = reason
        log.error(Line(
            "Internal topic {topic} cannot be created, and its coordinators serve nobody",
            topic=topic, error=reason,
        ))  # fmt: skip


def until_created(broker: Broker, answer: CreateTopicsResponse, respond: Callable[[], T]) -> T | Wait:
    """What `respond` says once the topics that the controller has made are known here, as they will be at once."""
    made = [topic.name for topic in answer.topics if not topic.error_code]

    def are_here() -> bool:
        return all(name in broker.image.topics for name in made)

    if are_here():
        return respond()
    return Wait(
        (broker.raft.partition,), are_here, Millis(broker.step.now + TOPIC_KNOWN_MS), respond, respond
    )
